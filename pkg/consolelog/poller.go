// SPDX-License-Identifier: Apache-2.0

package consolelog

import (
	"context"
	"sync"
	"time"
)

// poller reads one console for all its followers.
type poller struct {
	read   Read
	cancel context.CancelFunc
	// places is how many followers there are or are about to be. It is guarded
	// by the mutex of Followers.
	places int

	// asked has one element when somebody waits for a read.
	asked chan struct{}
	// shown is used by run alone.
	shown shown

	mu sync.Mutex
	// over says why nothing more is read.
	over error
	// waiting are those who are to begin with the next read.
	waiting, followers map[*follower]struct{}
}

func newPoller(read Read, cancel context.CancelFunc) *poller {
	return &poller{
		read:      read,
		cancel:    cancel,
		asked:     make(chan struct{}, 1),
		waiting:   map[*follower]struct{}{},
		followers: map[*follower]struct{}{},
	}
}

// run reads until ctx ends or the console does, and returns why.
func (p *poller) run(ctx context.Context, interval time.Duration, passing func(error) bool) error {
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return ErrClosed
		case <-ticks.C:
		case <-p.asked:
		}
		text, err := p.read(ctx)
		switch {
		case ctx.Err() != nil:
			return ErrClosed
		case err == nil:
			p.deliver(p.shown.next(text))
		case passing(err):
			p.sendAway(err)
		default:
			return err
		}
	}
}

// begin has a follower wait for what it begins with. A read that is under way
// will do: what is new since it began comes with the next one.
func (p *poller) begin(f *follower) error {
	if err := p.ask(f); err != nil {
		return err
	}
	select {
	case err := <-f.begun:
		return err
	case <-f.ctx.Done():
		return f.ctx.Err()
	}
}

func (p *poller) ask(f *follower) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over != nil {
		return p.over
	}
	p.waiting[f] = struct{}{}
	select {
	case p.asked <- struct{}{}:
	default:
	}
	return nil
}

// deliver hands out what is new, and to those who wait all that was shown.
func (p *poller) deliver(fresh string) {
	p.mu.Lock()
	var behind []*follower
	for f := range p.followers {
		if !f.deliver(fresh) {
			behind = append(behind, f)
		}
	}
	for f := range p.waiting {
		f.begin(p.shown.last)
		p.followers[f] = struct{}{}
	}
	p.answered()
	p.mu.Unlock()
	leave(behind)
}

// sendAway tells those who wait why they cannot begin. The others may go on.
func (p *poller) sendAway(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse(err)
}

func (p *poller) refuse(err error) {
	for f := range p.waiting {
		f.begun <- err
	}
	p.answered()
}

// answered is after a read, whose outcome all who waited have.
func (p *poller) answered() {
	clear(p.waiting)
	select {
	case <-p.asked:
	default:
	}
}

func (p *poller) remove(f *follower) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.waiting, f)
	delete(p.followers, f)
}

// end ends the followers, and sends those away who wait or are yet to come.
func (p *poller) end(err error) {
	p.mu.Lock()
	p.over = err
	p.refuse(err)
	var ended []*follower
	for f := range p.followers {
		f.end(err)
		ended = append(ended, f)
	}
	p.mu.Unlock()
	leave(ended)
}

// leave gives the places of those back to whom nothing more will come: when
// they notice is up to their clients.
func leave(followers []*follower) {
	for _, f := range followers {
		f.leave()
	}
}
