// SPDX-License-Identifier: Apache-2.0

// Package world is all the simulated services know: tenants and their quota,
// the catalogue of a region, networks and what hangs on them, and servers with
// a life of their own. It lives in memory and moves by a clock alone.
package world

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"k8s.io/utils/clock"

	"github.com/unikorn-cloud/instance-apiserver/pkg/identity"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/acl"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/settings"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/timeline"
)

var (
	// ErrNotFound says that there is no such thing.
	ErrNotFound = errors.New("not found")
	// ErrTaken says that a name, and so an id, is in use.
	ErrTaken = errors.New("the name is taken")
	// ErrInUse says that something else still refers to the thing.
	ErrInUse = errors.New("in use")
	// ErrDeleting says that the thing is on its way out.
	ErrDeleting = errors.New("being deleted")
)

// World is the state behind the simulated services. It is safe for concurrent
// use.
type World struct {
	clock    clock.PassiveClock
	settings *settings.Store

	mu            sync.Mutex
	organizations map[ids.OrganizationID]*organization
	projects      map[ids.ProjectID]identity.Project
	people        map[string][]acl.Membership
	allocations   *timeline.Table[ids.AllocationID, identity.Allocation]

	regions     map[ids.RegionID]region.Region
	flavors     map[ids.FlavorID]region.Flavor
	images      *timeline.Table[ids.ImageID, Image]
	networks    *timeline.Table[ids.NetworkID, Network]
	groups      map[ids.SecurityGroupID]region.SecurityGroup
	authorities *timeline.Table[ids.SSHCertificateAuthorityID, region.SSHCertificateAuthority]
	servers     *timeline.Table[ids.ServerID, Server]

	publicAddresses  *pool
	privateAddresses map[ids.NetworkID]*pool
	forgotten        time.Time
}

// New returns a world with the fixture in it.
func New(clock clock.PassiveClock, settings *settings.Store) (*World, error) {
	public, err := newPool(publicPrefix)
	if err != nil {
		return nil, err
	}
	w := &World{
		clock:            clock,
		settings:         settings,
		organizations:    map[ids.OrganizationID]*organization{},
		projects:         map[ids.ProjectID]identity.Project{},
		people:           map[string][]acl.Membership{},
		allocations:      timeline.NewTable[ids.AllocationID, identity.Allocation](),
		regions:          map[ids.RegionID]region.Region{},
		flavors:          map[ids.FlavorID]region.Flavor{},
		images:           timeline.NewTable[ids.ImageID, Image](),
		networks:         timeline.NewTable[ids.NetworkID, Network](),
		groups:           map[ids.SecurityGroupID]region.SecurityGroup{},
		authorities:      timeline.NewTable[ids.SSHCertificateAuthorityID, region.SSHCertificateAuthority](),
		servers:          timeline.NewTable[ids.ServerID, Server](),
		publicAddresses:  public,
		privateAddresses: map[ids.NetworkID]*pool{},
		forgotten:        clock.Now(),
	}
	if err := w.addFixture(); err != nil {
		return nil, err
	}
	return w, nil
}

// View is the world as it is, or was, at one moment.
type View struct {
	world *World
	at    time.Time
}

// Now is the world as it is: what writes are held against.
func (w *World) Now() View {
	return View{world: w, at: w.clock.Now()}
}

// Lagging is the world as the services' caches show it, a moment ago.
func (w *World) Lagging() View {
	lag := settings.Millis(w.settings.Get().ReadLagMillis)
	return View{world: w, at: w.clock.Now().Add(-lag)}
}

// forget drops, now and then, what nobody can ask about any more.
func (w *World) forget(now time.Time) {
	if now.Sub(w.forgotten) < timeline.Retention {
		return
	}
	w.forgotten = now
	w.servers.Forget(now)
	w.allocations.Forget(now)
	w.networks.Forget(now)
	w.authorities.Forget(now)
}

// found turns a look-up into one that fails with ErrNotFound.
func found[T any](value T, present bool) (T, error) {
	if !present {
		return value, ErrNotFound
	}
	return value, nil
}

func always[T any](T) bool { return true }

// selected returns the values that keep accepts, ordered by key.
func selected[K cmp.Ordered, T any](values map[K]T, keep func(T) bool) []T {
	var kept []T
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if keep(values[key]) {
			kept = append(kept, values[key])
		}
	}
	return kept
}

// newID returns a fresh id of the platform's: one that starts with a letter,
// so that it can name a Kubernetes object.
func newID() string {
	for {
		if id := uuid.New(); id[0]>>4 >= 10 {
			return id.String()
		}
	}
}

// timestamp is a moment as metadata shows it.
func timestamp(at time.Time) time.Time {
	return at.UTC().Truncate(time.Second)
}
