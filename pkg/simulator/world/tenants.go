// SPDX-License-Identifier: Apache-2.0

package world

import (
	"cmp"
	"maps"
	"slices"

	"github.com/unikorn-cloud/instance-apiserver/pkg/identity"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/acl"
)

type organization struct {
	resource identity.Organization
	// limits are the organization's own; kinds missing have their default.
	limits map[string]int
}

// Organization returns an organization.
func (w *World) Organization(id ids.OrganizationID) (identity.Organization, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	organization, present := w.organizations[id]
	if !present {
		return identity.Organization{}, ErrNotFound
	}
	return organization.resource, nil
}

// Project returns a project of an organization.
func (w *World) Project(organization ids.OrganizationID, id ids.ProjectID) (identity.Project, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return found(w.project(organization, id))
}

func (w *World) project(organization ids.OrganizationID, id ids.ProjectID) (identity.Project, bool) {
	project, present := w.projects[id]
	return project, present && project.Metadata.OrganizationID == organization
}

// Projects returns the projects of an organization by id.
func (w *World) Projects(organization ids.OrganizationID) []identity.Project {
	w.mu.Lock()
	defer w.mu.Unlock()
	projects := slices.DeleteFunc(slices.Collect(maps.Values(w.projects)), func(project identity.Project) bool {
		return project.Metadata.OrganizationID != organization
	})
	slices.SortFunc(projects, func(a, b identity.Project) int { return cmp.Compare(a.Metadata.ID, b.Metadata.ID) })
	return projects
}

// MakeProject makes a project of an organization. What else is in region under
// its id, from before it was removed, is its own again.
func (w *World) MakeProject(organization ids.OrganizationID, id ids.ProjectID, name string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, present := w.organizations[organization]; !present {
		return ErrNotFound
	}
	if _, taken := w.projects[id]; taken {
		return ErrTaken
	}
	w.addProject(organization, id, name)
	return nil
}

// RemoveProject removes a project and, with its namespace, the allocations in
// it.
func (w *World) RemoveProject(id ids.ProjectID) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, present := w.projects[id]; !present {
		return ErrNotFound
	}
	delete(w.projects, id)
	now := w.clock.Now()
	w.allocations.Each(now, func(allocation identity.Allocation) {
		if allocation.Metadata.ProjectID == id {
			w.allocations.Row(ids.AllocationID(allocation.Metadata.ID)).Remove(now)
		}
	})
	return nil
}

// Memberships returns what somebody is in which projects.
func (w *World) Memberships(actor string) []acl.Membership {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.people[actor])
}

// SetRoles makes roles, by project, what somebody is from now on. None make
// the person unknown.
func (w *World) SetRoles(actor string, roles map[ids.ProjectID]acl.Role) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var memberships []acl.Membership
	for id, role := range roles {
		project, present := w.projects[id]
		if !present {
			return ErrNotFound
		}
		memberships = append(memberships, acl.Membership{
			Organization: project.Metadata.OrganizationID, Project: id, Role: role,
		})
	}
	if len(memberships) == 0 {
		delete(w.people, actor)
		return nil
	}
	w.people[actor] = memberships
	return nil
}
