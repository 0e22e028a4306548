// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
)

// Poller lists the servers of networks, once for all instances on a network, and
// says which instances' servers changed.
type Poller struct {
	lister  ServerLister
	signer  Signer
	clock   clock.Clock
	timing  Timing
	changed func(context.Context, types.NamespacedName)

	wake chan struct{}

	mu       sync.Mutex
	networks map[region.NetworkSelector]*network
	places   map[types.NamespacedName]region.NetworkSelector
}

// NewPoller returns a poller that calls changed, which must not block for long,
// with every followed object whose server is not what it was.
func NewPoller(lister ServerLister, signer Signer, clock clock.Clock, timing Timing, changed func(context.Context, types.NamespacedName)) *Poller {
	return &Poller{
		lister:   lister,
		signer:   signer,
		clock:    clock,
		timing:   timing,
		changed:  changed,
		wake:     make(chan struct{}, 1),
		networks: map[region.NetworkSelector]*network{},
		places:   map[types.NamespacedName]region.NetworkSelector{},
	}
}

// Follow makes changes of the server of s known, from the next list on.
func (p *Poller) Follow(s *subject) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := s.key()
	if place, ok := p.places[key]; ok && place != s.network {
		p.leave(key)
	}
	p.places[key] = s.network
	found, ok := p.networks[s.network]
	if !ok {
		found = &network{since: p.clock.Now(), followers: map[types.NamespacedName]*follower{}}
		p.networks[s.network] = found
		p.hasten()
	}
	found.principal = s.principal
	if found.followers[key] == nil {
		found.followers[key] = &follower{instance: s.id}
	}
}

// Leave ends Follow.
func (p *Poller) Leave(key types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leave(key)
}

func (p *Poller) leave(key types.NamespacedName) {
	place, ok := p.places[key]
	if !ok {
		return
	}
	delete(p.places, key)
	delete(p.networks[place].followers, key)
	if len(p.networks[place].followers) == 0 {
		delete(p.networks, place)
	}
}

// Hurry polls often for the server of a followed object until then, which may be
// past.
func (p *Poller) Hurry(key types.NamespacedName, until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	place, ok := p.places[key]
	if !ok {
		return
	}
	p.networks[place].followers[key].movingUntil = until
	if until.After(p.clock.Now()) {
		p.hasten()
	}
}

// hasten makes the schedule be looked at again.
func (p *Poller) hasten() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Servers lists the servers on the network of a followed object as they were at
// notBefore or later. Several callers share one list.
func (p *Poller) Servers(ctx context.Context, s *subject, notBefore time.Time) ([]region.Server, error) {
	p.mu.Lock()
	found, ok := p.networks[s.network]
	if !ok {
		p.mu.Unlock()
		return p.lister.NetworkServers(ctx, p.signer.Sign(s.principal), s.network)
	}
	if known := found.attempt; known != nil && !known.started.Before(notBefore) {
		p.mu.Unlock()
		return known.servers, known.err
	}
	if flight := found.flight; flight != nil && !flight.started.Before(notBefore) {
		p.mu.Unlock()
		return flight.wait(ctx)
	}
	flight := p.takeOff(found)
	p.mu.Unlock()
	p.fly(ctx, s.network, s.principal, flight)
	return flight.servers, flight.err
}

func (p *Poller) takeOff(found *network) *listing {
	found.flight = &listing{started: p.clock.Now(), done: make(chan struct{})}
	return found.flight
}

func (p *Poller) fly(ctx context.Context, place region.NetworkSelector, who principal.Principal, flight *listing) {
	flight.servers, flight.err = p.lister.NetworkServers(ctx, p.signer.Sign(who), place)
	close(flight.done)
	for _, key := range p.land(place, flight) {
		p.changed(ctx, key)
	}
}

// land keeps a list, unless a newer one is known, and returns whose servers are
// not what they were in the one before.
func (p *Poller) land(place region.NetworkSelector, flight *listing) []types.NamespacedName {
	p.mu.Lock()
	defer p.mu.Unlock()
	found, ok := p.networks[place]
	if !ok {
		return nil
	}
	if found.flight == flight {
		found.flight = nil
	}
	if found.attempt == nil || found.attempt.started.Before(flight.started) {
		found.attempt = flight
	}
	if flight.err != nil || (found.last != nil && !found.last.started.Before(flight.started)) {
		return nil
	}
	before := found.last
	found.last = flight
	if before == nil {
		return nil
	}
	return found.differences(before.servers, flight.servers)
}
