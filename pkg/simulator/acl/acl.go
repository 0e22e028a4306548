// SPDX-License-Identifier: Apache-2.0

// Package acl is the permission model of the platform: which operations on
// which kind of thing a caller has, everywhere, in an organization or in a
// project. The rules are in docs/reference/wire.md, "Permissions".
package acl

import (
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// Grants maps kinds of things, like region:servers, to the operations allowed.
type Grants map[string]sets.Set[unikorn.Operation]

// Allows tells whether the grants hold an operation on a kind of thing.
func (g Grants) Allows(kind string, operation unikorn.Operation) bool {
	return g[kind].Has(operation)
}

// add puts more grants in.
func (g Grants) add(more Grants) {
	for kind, operations := range more {
		g[kind] = g[kind].Union(operations)
	}
}

// intersect keeps what both hold.
func (g Grants) intersect(other Grants) Grants {
	both := Grants{}
	for kind, operations := range g {
		if common := operations.Intersection(other[kind]); common.Len() > 0 {
			both[kind] = common
		}
	}
	return both
}

// ACL is what one caller may do.
type ACL struct {
	// Global holds everywhere.
	Global Grants
	// Organizations holds what applies to one organization only. An
	// organization without any grant is still one the caller belongs to.
	Organizations map[ids.OrganizationID]Organization
}

// Organization is what a caller may do in one organization.
type Organization struct {
	// Grants hold in the organization and in all its projects.
	Grants Grants
	// Projects holds what applies to one project only.
	Projects map[ids.ProjectID]Grants
}

// AllowsGlobally tells whether an operation is allowed everywhere.
func (a ACL) AllowsGlobally(kind string, operation unikorn.Operation) bool {
	return a.Global.Allows(kind, operation)
}

// AllowsInOrganization tells whether an operation is allowed on what belongs
// to an organization.
func (a ACL) AllowsInOrganization(kind string, operation unikorn.Operation, organization ids.OrganizationID) bool {
	return a.AllowsGlobally(kind, operation) || a.Organizations[organization].Grants.Allows(kind, operation)
}

// AllowsInProject tells whether an operation is allowed on what belongs to a
// project.
func (a ACL) AllowsInProject(kind string, operation unikorn.Operation, organization ids.OrganizationID, project ids.ProjectID) bool {
	return a.AllowsInOrganization(kind, operation, organization) ||
		a.Organizations[organization].Projects[project].Allows(kind, operation)
}

// GrantedByProject tells whether the project's own grants hold an operation,
// whatever else allows it. Only then is a project known to exist.
func (a ACL) GrantedByProject(kind string, operation unikorn.Operation, organization ids.OrganizationID, project ids.ProjectID) bool {
	return a.Organizations[organization].Projects[project].Allows(kind, operation)
}

// Scope says which organizations a list is about. The zero Scope is about all.
type Scope struct {
	limited sets.Set[ids.OrganizationID]
}

// Includes tells whether a list shows what belongs to an organization.
func (s Scope) Includes(organization ids.OrganizationID) bool {
	return s.limited == nil || s.limited.Has(organization)
}

// Scope returns what a list is about: the organizations asked for that the
// caller belongs to, all of the caller's when none is asked for, and what is
// asked for when the caller belongs to none. It reports false when caller and
// question have nothing in common, which a list shows as null.
func (a ACL) Scope(asked []ids.OrganizationID) (Scope, bool) {
	switch own := sets.KeySet(a.Organizations); {
	case own.Len() == 0 && len(asked) == 0:
		return Scope{}, true
	case own.Len() == 0:
		return Scope{limited: sets.New(asked...)}, true
	case len(asked) == 0:
		return Scope{limited: own}, true
	default:
		common := own.Intersection(sets.New(asked...))
		return Scope{limited: common}, common.Len() > 0
	}
}

// Impersonated returns what a service may do in the name of somebody: what
// both may, operation by operation.
func Impersonated(somebody ACL, service Grants) ACL {
	both := ACL{Global: somebody.Global.intersect(service), Organizations: map[ids.OrganizationID]Organization{}}
	for id, organization := range somebody.Organizations {
		projects := map[ids.ProjectID]Grants{}
		for project, grants := range organization.Projects {
			projects[project] = grants.intersect(service)
		}
		both.Organizations[id] = Organization{Grants: organization.Grants.intersect(service), Projects: projects}
	}
	return both
}
