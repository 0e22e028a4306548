// SPDX-License-Identifier: Apache-2.0

package world

import (
	"github.com/unikorn-cloud/instance-apiserver/pkg/identity"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// Allocations returns every allocation by id.
func (v View) Allocations() []identity.Allocation {
	v.world.mu.Lock()
	defer v.world.mu.Unlock()
	return v.world.allocations.Select(v.at, always)
}

// Allocation returns an allocation of a project.
func (v View) Allocation(project ids.ProjectID, id ids.AllocationID) (identity.Allocation, error) {
	v.world.mu.Lock()
	defer v.world.mu.Unlock()
	allocation, present := v.world.allocations.Get(id, v.at)
	return found(allocation, present && allocation.Metadata.ProjectID == project)
}

// Allocate charges an organization. The same request again is a second
// charge. A limit that would be exceeded is a QuotaError.
func (w *World) Allocate(organization ids.OrganizationID, project ids.ProjectID, write identity.AllocationWrite, actor string) (identity.Allocation, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.Now()
	w.forget(now)
	if _, present := w.project(organization, project); !present {
		return identity.Allocation{}, ErrNotFound
	}
	allocation := identity.Allocation{
		Metadata: unikorn.ProjectScopedReadMetadata{
			ID: newID(), OrganizationID: organization, ProjectID: project,
			CreationTime: timestamp(now), CreatedBy: actor,
			ProvisioningStatus: unikorn.ProvisioningStatusProvisioned, HealthStatus: unikorn.HealthStatusHealthy,
		},
		Spec: write.Spec,
	}
	describe(&allocation.Metadata, write.Metadata)
	if err := w.covers(allocation); err != nil {
		return identity.Allocation{}, err
	}
	w.allocations.Set(ids.AllocationID(allocation.Metadata.ID), now, allocation)
	return allocation, nil
}

// Reallocate replaces what an allocation charges, and who made it.
func (w *World) Reallocate(project ids.ProjectID, id ids.AllocationID, write identity.AllocationWrite, actor string) (identity.Allocation, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.Now()
	allocation, present := w.allocations.Get(id, now)
	if !present || allocation.Metadata.ProjectID != project {
		return identity.Allocation{}, ErrNotFound
	}
	allocation.Spec = write.Spec
	allocation.Metadata.CreatedBy = actor
	describe(&allocation.Metadata, write.Metadata)
	if err := w.covers(allocation); err != nil {
		return identity.Allocation{}, err
	}
	w.allocations.Set(id, now, allocation)
	return allocation, nil
}

// Release gives back what an allocation charges.
func (w *World) Release(project ids.ProjectID, id ids.AllocationID) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.Now()
	allocation, present := w.allocations.Get(id, now)
	if !present || allocation.Metadata.ProjectID != project {
		return ErrNotFound
	}
	w.allocations.Row(id).Remove(now)
	return nil
}

// describe puts what a caller says about a resource into its metadata.
func describe(metadata *unikorn.ProjectScopedReadMetadata, write unikorn.WriteMetadata) {
	metadata.Name, metadata.Description, metadata.Tags = write.Name, write.Description, write.Tags
}
