// SPDX-License-Identifier: Apache-2.0

// Package machine is the life of a server: what region shows of it at every
// step, and which steps follow from a request. The facts are in
// docs/reference/wire.md, "Life of a server".
package machine

import (
	"time"

	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// State is what is seen of a server at one moment. Provisioning and power are
// independent of each other.
type State struct {
	// Provisioning says how far the desired state was handed over.
	Provisioning unikorn.ProvisioningStatus
	// Reason of the provisioning status, empty while nobody looked at it.
	Reason string
	// Health follows from what the provider says.
	Health unikorn.HealthStatus
	// Power is empty until the server was first observed.
	Power region.PowerState
	// Ports are there: addresses are known.
	Ports bool
	// Accepted by the provider: it has a machine that can be acted upon.
	Accepted bool
	// Launched once: the hardware address is known and kept.
	Launched bool
}

// Step is a state that begins some time after a request.
type Step struct {
	After time.Duration
	State State
}

// Created is the state between the request for a server and the first look of
// region's controller at it.
func Created() State {
	return State{Provisioning: unikorn.ProvisioningStatusPending, Health: unikorn.HealthStatusUnknown}
}

// Running is the state of a server in use.
func Running() State {
	return State{
		Provisioning: unikorn.ProvisioningStatusProvisioned, Reason: "Provisioned",
		Health: unikorn.HealthStatusHealthy, Power: region.PowerRunning,
		Ports: true, Accepted: true, Launched: true,
	}
}

// Failed is the state of a server whose creation was given up.
func Failed() State {
	return State{Provisioning: unikorn.ProvisioningStatusError, Reason: "Errored", Health: unikorn.HealthStatusDegraded}
}

// Boot returns the steps from the request for a virtual machine until it runs.
func Boot(boot time.Duration) []Step {
	return []Step{
		{0, Created()},
		{boot / 5, provisioning()},
		{2 * boot / 5, ported()},
		{3 * boot / 5, accepted(region.PowerBuilding)},
		{boot, Running()},
	}
}

// BootMetal is Boot for a physical machine, which waits in a queue.
func BootMetal(boot time.Duration) []Step {
	return []Step{
		{0, Created()},
		{boot / 5, provisioning()},
		{2 * boot / 5, ported()},
		{3 * boot / 5, accepted(region.PowerQueued)},
		{4 * boot / 5, accepted(region.PowerBuilding)},
		{boot, Running()},
	}
}

func provisioning() State {
	state := Created()
	state.Provisioning, state.Reason = unikorn.ProvisioningStatusProvisioning, "Provisioning"
	return state
}

func ported() State {
	state := provisioning()
	state.Power, state.Ports = region.PowerPending, true
	return state
}

func accepted(power region.PowerState) State {
	state := Running()
	state.Power, state.Health, state.Launched = power, unikorn.HealthStatusDegraded, false
	return state
}

// RebuildNew returns the steps after another image, as newer builds of region
// report them: provisioned as soon as the provider accepted.
func (s State) RebuildNew(rebuild time.Duration) []Step {
	handing, rebuilding := s.handedOver(), s.handedOver()
	rebuilding.Provisioning, rebuilding.Reason = unikorn.ProvisioningStatusProvisioned, "Provisioned"
	rebuilding.Power, rebuilding.Health = region.PowerRebuilding, unikorn.HealthStatusUnknown
	return []Step{{0, handing}, {rebuild / 5, rebuilding}, {rebuild, Running()}}
}

// RebuildOld returns the steps after another image, as older builds report
// them: provisioning, and Building, until it is done.
func (s State) RebuildOld(rebuild time.Duration) []Step {
	rebuilding := s.handedOver()
	rebuilding.Power, rebuilding.Health = region.PowerBuilding, unikorn.HealthStatusUnknown
	return []Step{{0, rebuilding}, {rebuild, Running()}}
}

func (s State) handedOver() State {
	s.Provisioning, s.Reason = unikorn.ProvisioningStatusProvisioning, "Provisioning"
	return s
}

// Deleting is the state from the request for deletion until the machine is
// gone; all else keeps its last value.
func (s State) Deleting() State {
	s.Provisioning, s.Reason = unikorn.ProvisioningStatusDeprovisioning, "Deprovisioning"
	return s
}
