// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// slowLister takes a second for a list.
type slowLister struct {
	mu      sync.Mutex
	lists   int
	servers []region.Server
	err     error
}

func (l *slowLister) NetworkServers(context.Context, principal.Credential, region.NetworkSelector) ([]region.Server, error) {
	<-time.After(time.Second)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lists++
	return slices.Clone(l.servers), l.err
}

func (l *slowLister) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lists
}

func (l *slowLister) become(err error, servers ...region.Server) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.servers, l.err = servers, err
}

func serverOf(instance string, state region.PowerState) region.Server {
	server := region.Server{}
	server.Metadata.ID = instance
	server.Metadata.CreationTime = time.Now()
	server.Metadata.Tags = []unikorn.Tag{{Name: region.InstanceTag, Value: instance}}
	server.Status.PowerState = state
	return server
}

// polled is a poller in a bubble, and what it called changed.
type polled struct {
	*Poller
	lister *slowLister

	mu      sync.Mutex
	changes []string
}

func newPolled() *polled {
	p := &polled{lister: &slowLister{}}
	p.Poller = NewPoller(p.lister, fakeSigner{}, clock.RealClock{}, Timing{Steady: 10 * time.Second, Moving: 2 * time.Second},
		func(_ context.Context, key types.NamespacedName) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.changes = append(p.changes, key.Name)
		})
	return p
}

func (p *polled) changed() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	changes := p.changes
	p.changes = nil
	slices.Sort(changes)
	return changes
}

// start polls until the returned function is called.
func (p *polled) start(t *testing.T) func() {
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := p.Start(ctx); err != nil {
			t.Error(err)
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}

func subjectNamed(t *testing.T, name string) *subject {
	t.Helper()
	object := newInstance()
	object.Name = name
	return mustSubject(t, object)
}

func TestPollerShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPolled()
		s := subjectNamed(t, "a")
		p.Follow(s)
		ask := func(notBefore time.Time) {
			var asking sync.WaitGroup
			for range 20 {
				asking.Go(func() {
					if _, err := p.Servers(t.Context(), s, notBefore); err != nil {
						t.Error(err)
					}
				})
			}
			asking.Wait()
		}
		began := time.Now()
		ask(began)
		if got := p.lister.count(); got != 1 {
			t.Errorf("20 at once made %d lists", got)
		}
		ask(began)
		if got := p.lister.count(); got != 1 {
			t.Errorf("20 for what is known made %d lists", got-1)
		}
		ask(time.Now())
		if got := p.lister.count(); got != 2 {
			t.Errorf("20 for what is newer made %d lists", got-1)
		}
	})
}

// A list that was asked for too early does not do, even if it is under way.
func TestPollerNotBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPolled()
		s := subjectNamed(t, "a")
		p.Follow(s)
		var asking sync.WaitGroup
		asking.Go(func() { _, _ = p.Servers(t.Context(), s, time.Now()) })
		<-time.After(500 * time.Millisecond)
		p.lister.become(nil, serverOf("a", region.PowerRunning))
		began := time.Now()
		if _, err := p.Servers(t.Context(), s, began); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("it took %s", took)
		}
		asking.Wait()
		if got := p.lister.count(); got != 2 {
			t.Errorf("%d lists", got)
		}
	})
}

func TestPollerSharesFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPolled()
		s := subjectNamed(t, "a")
		p.Follow(s)
		broken := errors.New("broken")
		p.lister.become(broken)
		began := time.Now()
		for range 5 {
			if _, err := p.Servers(t.Context(), s, began); !errors.Is(err, broken) {
				t.Errorf("got %v", err)
			}
		}
		if got := p.lister.count(); got != 1 {
			t.Errorf("%d lists", got)
		}
	})
}

func TestPollerReportsChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPolled()
		for _, name := range []string{"a", "b"} {
			p.Follow(subjectNamed(t, name))
		}
		a, b, c := serverOf("a", region.PowerBuilding), serverOf("b", region.PowerRunning), serverOf("c", region.PowerRunning)
		p.lister.become(nil, a, b, c)
		defer p.start(t)()
		expect := func(what string, want ...string) {
			t.Helper()
			<-time.After(2 * p.timing.Steady)
			if got := p.changed(); !slices.Equal(got, want) {
				t.Errorf("%s: %v changed, want %v", what, got, want)
			}
		}
		expect("first list")
		a.Status.PowerState, c.Status.PowerState = region.PowerRunning, region.PowerStopped
		p.lister.become(nil, a, b, c)
		expect("one of two, and one nobody follows", "a")
		p.lister.become(nil, a, c)
		expect("gone", "b")
		p.lister.become(errors.New("broken"))
		expect("failure")
		p.lister.become(nil, a, c)
		expect("the same after a failure")
		p.lister.become(nil, a, b, c)
		p.Leave(types.NamespacedName{Namespace: "alpha", Name: "b"})
		expect("back, and not followed any more")
	})
}

func TestPollerPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPolled()
		s := subjectNamed(t, "a")
		p.Follow(s)
		defer p.start(t)()
		lists := func(over time.Duration) int {
			before := p.lister.count()
			<-time.After(over)
			return p.lister.count() - before
		}
		lists(time.Minute)
		if got := lists(100 * time.Second); got != 10 {
			t.Errorf("%d lists in 100 s at rest", got)
		}
		p.Hurry(s.key(), time.Now().Add(100*time.Second))
		if got := lists(100 * time.Second); got < 48 || got > 51 {
			t.Errorf("%d lists in 100 s in a hurry", got)
		}
		lists(time.Minute)
		if got := lists(100 * time.Second); got != 10 {
			t.Errorf("%d lists in 100 s after the hurry", got)
		}
		p.Leave(s.key())
		lists(time.Minute)
		if got := lists(100 * time.Second); got != 0 {
			t.Errorf("%d lists in 100 s for nobody", got)
		}
	})
}

func TestPollerForgetsNetworks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPolled()
		object := newInstance()
		p.Follow(mustSubject(t, object))
		object.Labels["regions.unikorn-cloud.org/network-id"] = "0d000000-0000-4000-8000-0000000000d2"
		s := mustSubject(t, object)
		p.Follow(s)
		if len(p.networks) != 1 {
			t.Errorf("%d networks are followed", len(p.networks))
		}
		p.Leave(s.key())
		if len(p.networks)+len(p.places) != 0 {
			t.Errorf("left over: %v %v", p.networks, p.places)
		}
	})
}
