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

	// turn is held by whoever reads, and guards last: what is new is relative
	// to the read before, so there is one read at a time. It is a channel so
	// that a follower that waits for it can give up.
	turn chan struct{}
	last string

	mu        sync.Mutex
	over      bool
	followers map[*follower]struct{}
}

func newPoller(read Read, cancel context.CancelFunc) *poller {
	return &poller{
		read:      read,
		cancel:    cancel,
		turn:      make(chan struct{}, 1),
		followers: map[*follower]struct{}{},
	}
}

// run reads until ctx ends or the console does, and then ends the followers.
func (p *poller) run(ctx context.Context, interval time.Duration, passing func(error) bool) {
	defer p.end()
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		if err := p.poll(ctx); err != nil && !passing(err) {
			return
		}
	}
}

func (p *poller) poll(ctx context.Context) error {
	if err := p.takeTurn(ctx); err != nil {
		return err
	}
	defer p.endTurn()
	_, err := p.next(ctx)
	return err
}

// add has a follower begin with the last lines, or all, of what is there now.
// It reads for itself, so that the follower begins where the others are.
func (p *poller) add(ctx context.Context, f *follower, lines *int64) error {
	if err := p.takeTurn(ctx); err != nil {
		return err
	}
	defer p.endTurn()
	text, err := p.next(ctx)
	if err != nil {
		return err
	}
	if lines != nil {
		text = Tail(text, *lines)
	}
	f.begin(text)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		f.end()
		return nil
	}
	p.followers[f] = struct{}{}
	return nil
}

// next reads the console and delivers what is new. Whoever calls it has the
// turn.
func (p *poller) next(ctx context.Context) (string, error) {
	text, err := p.read(ctx)
	if err != nil {
		return "", err
	}
	if text == "" {
		// Nothing is kept at the moment, which takes nothing back: what is
		// there afterwards may go on from what was there before.
		return "", nil
	}
	recent := lastWindow(text)
	p.deliver(Fresh(p.last, recent))
	p.last = recent
	return text, nil
}

func (p *poller) deliver(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for f := range p.followers {
		if !f.deliver(text) {
			delete(p.followers, f)
		}
	}
}

func (p *poller) remove(f *follower) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.followers, f)
}

func (p *poller) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	for f := range p.followers {
		f.end()
	}
	clear(p.followers)
}

func (p *poller) takeTurn(ctx context.Context) error {
	select {
	case p.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *poller) endTurn() {
	<-p.turn
}
