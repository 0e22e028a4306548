// SPDX-License-Identifier: Apache-2.0

// Package simulator is a stand-in for the platform's region and identity
// services: as they answer on the wire, in memory, with faults on request. It
// is for development and tests only.
package simulator

import (
	"net/http"
	"time"

	"k8s.io/utils/clock"

	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/access"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/admin"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/fault"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/identityserver"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/regionserver"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/requestlog"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/settings"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/wire"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
)

// Names of the two services in faults and in the request log.
const (
	serviceRegion   = "region"
	serviceIdentity = "identity"
)

// Simulator is the two services over one world. Its handlers need requests
// with the TLS state of the connection: see Serve.
type Simulator struct {
	// Region answers as the region service does.
	Region http.Handler
	// Identity answers as the identity service does.
	Identity http.Handler
	// Admin is for tests and demonstrations, without authentication.
	Admin http.Handler

	settings *settings.Store
}

// New returns a simulator with the fixture in it, that moves by a clock.
func New(clock clock.Clock, initial settings.Settings) (*Simulator, error) {
	if err := initial.Validate(); err != nil {
		return nil, err
	}
	store := settings.NewStore(initial)
	state, err := world.New(clock, store)
	if err != nil {
		return nil, err
	}
	authority := &access.Authority{World: state, Settings: store}
	region, err := regionserver.Handler(&regionserver.Server{World: state, Settings: store, Authority: authority})
	if err != nil {
		return nil, err
	}
	identity, err := identityserver.Handler(&identityserver.Server{World: state, Authority: authority})
	if err != nil {
		return nil, err
	}
	faults := &fault.Set{}
	requests := requestlog.New(clock)
	front := front{clock: clock, injector: fault.Injector{Faults: faults, Clock: clock}, requests: requests}
	return &Simulator{
		Region: front.of(serviceRegion, region, func() time.Duration {
			return settings.Millis(store.Get().RegionLatencyMillis)
		}),
		Identity: front.of(serviceIdentity, identity, func() time.Duration {
			return settings.Millis(store.Get().IdentityLatencyMillis)
		}),
		Admin:    (&admin.API{World: state, Settings: store, Faults: faults, Requests: requests}).Handler(),
		settings: store,
	}, nil
}

// front is what stands before both services.
type front struct {
	clock    clock.Clock
	injector fault.Injector
	requests *requestlog.Log
}

// of remembers a request, waits for its body and then for the latency, because
// only who has read the body notices that the peer went away, and lets faults
// decide last.
func (f *front) of(service string, handler http.Handler, latency func() time.Duration) http.Handler {
	handler = f.injector.Inject(service, handler)
	handler = wire.Slow(f.clock, latency, handler)
	handler = wire.BufferBody(handler)
	return f.requests.Record(service, handler)
}
