// SPDX-License-Identifier: Apache-2.0

// Package consolelog follows what machines write to their consoles. The
// platform offers nothing but reading all of it that is kept, so each console
// that is followed is read again and again, by one poller for all its
// followers, and what is new is told from what was there by its overlap.
package consolelog

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

var (
	// ErrTooMany says that there are as many followers as there may be.
	ErrTooMany = errors.New("too many followers")
	// ErrClosed says that no new followers are taken.
	ErrClosed = errors.New("shutting down")
)

// Read returns the output of a console that is kept.
type Read func(ctx context.Context) (string, error)

// Limits bound what following costs.
type Limits struct {
	// Interval is the time between two reads of one console.
	Interval time.Duration
	// Longest is how long a follower may follow: nobody can tell one that does
	// not read from one to whom nothing happens.
	Longest time.Duration
	// PerConsole, PerUser, PerTenant and Total are how many followers there may
	// be at a time. No user should have all places of a console, and no tenant
	// all there are.
	PerConsole, PerUser, PerTenant, Total int
}

// Request says who wants to follow what.
type Request struct {
	// Console identifies the console: requests with the same one share its
	// reads.
	Console string
	// User and Tenant have the places that are taken.
	User, Tenant string
	// Lines is how many of the last lines to begin with, nil for all.
	Lines *int64
	// Read reads the console.
	Read Read
}

// Followers are the followers of consoles.
type Followers struct {
	limits  Limits
	passing func(error) bool

	running sync.WaitGroup
	ctx     context.Context //nolint:containedctx // it is what Close ends, of all pollers
	cancel  context.CancelFunc

	mu      sync.Mutex
	places  places
	pollers map[string]*poller
}

// New returns no followers yet. A read that fails while a console is followed
// ends its followers, unless passing says that the error may pass. Close ends
// all.
func New(limits Limits, passing func(error) bool) *Followers {
	ctx, cancel := context.WithCancel(context.Background())
	return &Followers{
		limits:  limits,
		passing: passing,
		ctx:     ctx,
		cancel:  cancel,
		places:  places{},
		pollers: map[string]*poller{},
	}
}

// Follow returns what a console has shown, of which at most the last MiB is
// kept, or its last lines, and then what is new. The stream ends with ctx, with
// the console, after the longest time, with Close of Followers, and when it is
// not read for long; the caller must close it. The error is that of the first
// read, ErrTooMany or ErrClosed.
func (f *Followers) Follow(ctx context.Context, request Request) (io.ReadCloser, error) {
	p, err := f.join(&request) //nolint:contextcheck // others may follow longer than who was first
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, f.limits.Longest)
	follower := newFollower(limited, request.Lines)
	follower.leave = sync.OnceFunc(func() {
		p.remove(follower)
		f.leave(&request, p)
	})
	follower.cancel = cancel
	if err := p.begin(follower); err != nil {
		_ = follower.Close()
		return nil, err
	}
	return follower, nil
}

// Close ends all followers and returns when nothing is read any more.
func (f *Followers) Close() {
	f.mu.Lock()
	f.cancel()
	f.mu.Unlock()
	f.running.Wait()
}

// join takes a place at the console's poller, which it starts if there is none.
func (f *Followers) join(request *Request) (*poller, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ctx.Err() != nil {
		return nil, ErrClosed
	}
	if !f.places.take(request, &f.limits) {
		return nil, ErrTooMany
	}
	p := f.pollers[request.Console]
	if p == nil {
		p = f.start(request)
	}
	p.places++
	return p, nil
}

// leave gives the place back. The poller ends with its last follower.
func (f *Followers) leave(request *Request, p *poller) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.places.giveBack(request)
	p.places--
	if p.places == 0 {
		p.cancel()
		f.forget(request.Console, p)
	}
}

func (f *Followers) start(request *Request) *poller {
	ctx, cancel := context.WithCancel(f.ctx)
	p := newPoller(request.Read, cancel)
	console := request.Console
	f.pollers[console] = p
	f.running.Go(func() {
		defer cancel()
		err := p.run(ctx, f.limits.Interval, f.passing)
		f.mu.Lock()
		f.forget(console, p)
		f.mu.Unlock()
		// Only now, so that nobody is sent away by a poller that is over who
		// could have had another.
		p.end(err)
	})
	return p
}

// forget makes room for another poller of the console.
func (f *Followers) forget(console string, p *poller) {
	if f.pollers[console] == p {
		delete(f.pollers, console)
	}
}
