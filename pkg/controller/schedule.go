// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
)

// parallelLists bounds the lists the poll has under way at once.
const parallelLists = 8

var _ manager.Runnable = &Poller{}

// Start polls until ctx ends.
func (p *Poller) Start(ctx context.Context) error {
	var lists errgroup.Group
	lists.SetLimit(parallelLists)
	defer func() { _ = lists.Wait() }()
	for {
		due, next := p.due(p.clock.Now())
		for _, poll := range due {
			lists.Go(func() error {
				p.fly(ctx, poll.place, poll.principal, poll.flight)
				return nil
			})
		}
		timer := p.clock.NewTimer(next)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-p.wake:
			timer.Stop()
		case <-timer.C():
		}
	}
}

// duePoll is a list that is to be made now.
type duePoll struct {
	place     region.NetworkSelector
	principal principal.Principal
	flight    *listing
}

// due returns the lists to make now, marked as under way, and how long there is
// nothing to do then.
func (p *Poller) due(now time.Time) ([]duePoll, time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := p.timing.Steady
	var due []duePoll
	for place, found := range p.networks {
		wait := found.wait(now, p.timing)
		if wait <= 0 {
			due = append(due, duePoll{place: place, principal: found.principal, flight: p.takeOff(found)})
			wait = found.interval(now, p.timing)
		}
		next = min(next, wait)
	}
	return due, next
}
