// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"errors"
	"time"

	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

var (
	// ErrNoMachine says that the provider has no machine behind the server.
	ErrNoMachine = errors.New("the provider has no such machine")
	// ErrWrongState says that the machine cannot do that now.
	ErrWrongState = errors.New("the machine is in the wrong power state")
)

// Stop returns the steps after the request to stop a running machine.
func (s State) Stop(stop time.Duration) ([]Step, error) {
	if err := s.require(region.PowerRunning); err != nil {
		return nil, err
	}
	stopping, stopped := s, s
	stopping.Power = region.PowerStopping
	stopped.Power, stopped.Health = region.PowerStopped, unikorn.HealthStatusDegraded
	return []Step{{0, stopping}, {stop, stopped}}, nil
}

// Start returns the steps after the request to start a stopped machine.
func (s State) Start(boot time.Duration) ([]Step, error) {
	if err := s.require(region.PowerStopped); err != nil {
		return nil, err
	}
	starting, running := s, s
	starting.Power = region.PowerPending
	running.Power, running.Health = region.PowerRunning, unikorn.HealthStatusHealthy
	return []Step{{0, starting}, {boot, running}}, nil
}

// Reboot tells whether the machine can be rebooted, which does not show in its
// state.
func (s State) Reboot() error {
	return s.require(region.PowerRunning)
}

// OpenConsole tells whether the machine has a console to connect to.
func (s State) OpenConsole() error {
	return s.require(region.PowerRunning)
}

// ReadConsole tells whether the machine has written to a console.
func (s State) ReadConsole() error {
	switch {
	case !s.Accepted:
		return ErrNoMachine
	case !s.Launched:
		return ErrWrongState
	}
	return nil
}

// Snapshot tells whether the machine has a disk that can be copied.
func (s State) Snapshot() error {
	switch {
	case !s.Accepted:
		return ErrNoMachine
	case s.Power == region.PowerRunning, s.Power == region.PowerStopped:
		return nil
	}
	return ErrWrongState
}

func (s State) require(power region.PowerState) error {
	switch {
	case !s.Accepted:
		return ErrNoMachine
	case s.Power != power:
		return ErrWrongState
	}
	return nil
}
