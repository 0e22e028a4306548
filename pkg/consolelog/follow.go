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
	// PerConsole and Total are how many followers there may be at a time.
	PerConsole, Total int
}

// Followers are the followers of consoles.
type Followers struct {
	limits  Limits
	passing func(error) bool

	running sync.WaitGroup
	ctx     context.Context //nolint:containedctx // it is what Close ends, of all pollers
	cancel  context.CancelFunc

	mu      sync.Mutex
	total   int
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
		pollers: map[string]*poller{},
	}
}

// Follow returns what a console has shown, or its last lines if lines is not
// nil, and then what is new. The stream ends with ctx, with the console, with
// Close of Followers, and when it is not read for long; the caller must close it. The
// error is that of the first read, ErrTooMany or ErrClosed.
func (f *Followers) Follow(ctx context.Context, console string, lines *int64, read Read) (io.ReadCloser, error) {
	p, err := f.join(console, read) //nolint:contextcheck // others may follow longer than who was first
	if err != nil {
		return nil, err
	}
	follower := newFollower(ctx)
	follower.leave = sync.OnceFunc(func() {
		p.remove(follower)
		f.leave(console, p)
	})
	if err := p.add(ctx, follower, lines); err != nil {
		follower.leave()
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
func (f *Followers) join(console string, read Read) (*poller, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ctx.Err() != nil {
		return nil, ErrClosed
	}
	p := f.pollers[console]
	if f.total >= f.limits.Total || p != nil && p.places >= f.limits.PerConsole {
		return nil, ErrTooMany
	}
	if p == nil {
		p = f.start(console, read)
	}
	f.total++
	p.places++
	return p, nil
}

// leave gives the place back. The poller ends with its last follower.
func (f *Followers) leave(console string, p *poller) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.total--
	p.places--
	if p.places == 0 {
		p.cancel()
		f.forget(console, p)
	}
}

func (f *Followers) start(console string, read Read) *poller {
	ctx, cancel := context.WithCancel(f.ctx)
	p := newPoller(read, cancel)
	f.pollers[console] = p
	f.running.Go(func() {
		defer cancel()
		p.run(ctx, f.limits.Interval, f.passing)
		f.mu.Lock()
		defer f.mu.Unlock()
		f.forget(console, p)
	})
	return p
}

// forget makes room for another poller of the console.
func (f *Followers) forget(console string, p *poller) {
	if f.pollers[console] == p {
		delete(f.pollers, console)
	}
}
