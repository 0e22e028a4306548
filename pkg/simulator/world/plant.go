// SPDX-License-Identifier: Apache-2.0

package world

import (
	"cmp"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/machine"
)

// PlantServer puts a server there behind the platform's back, in use at once.
// What resource says of its status, its provisioning and its health is shown
// in place of that. Organization, project and region are those of its network,
// and an id is derived when none is given.
func (w *World) PlantServer(resource region.Server) (Server, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.Now()
	network, present := w.networks.Get(resource.Status.NetworkID, now)
	if !present {
		return Server{}, ErrNotFound
	}
	if resource.Metadata.ID == "" {
		id, err := ids.InstanceObjectName(resource.Status.NetworkID, resource.Metadata.Name)
		if err != nil {
			return Server{}, err
		}
		resource.Metadata.ID = string(id)
	}
	if _, taken := w.servers.Get(ids.ServerID(resource.Metadata.ID), now); taken {
		return Server{}, ErrTaken
	}
	resource.Metadata.OrganizationID = network.Resource.Metadata.OrganizationID
	resource.Metadata.ProjectID = network.Resource.Metadata.ProjectID
	resource.Status.RegionID = network.Resource.Status.RegionID
	resource.Status.SSHInjection = cmp.Or(resource.Status.SSHInjection, region.SSHInjectionIdentityKeypair)
	server, addressed := w.newServer(now, resource)
	if !addressed {
		return Server{}, ErrInUse
	}
	state := machine.Running()
	state.Power = cmp.Or(resource.Status.PowerState, state.Power)
	state.Provisioning = cmp.Or(resource.Metadata.ProvisioningStatus, state.Provisioning)
	state.Health = cmp.Or(resource.Metadata.HealthStatus, state.Health)
	server.console.PowerOn(now)
	return w.follow(now, server, []machine.Step{{State: state}}), nil
}

// UprootServer removes a server at once, behind the platform's back.
func (w *World) UprootServer(id ids.ServerID) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.Now()
	if _, present := w.servers.Get(id, now); !present {
		return ErrNotFound
	}
	w.servers.Row(id).Remove(now)
	return nil
}
