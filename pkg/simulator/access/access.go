// SPDX-License-Identifier: Apache-2.0

// Package access answers what a caller may do, as identity does for itself and
// for region.
package access

import (
	"net/http"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/acl"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/settings"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/wire"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// Authority knows what callers may do. Its errors are those of identity's
// answer: whom it cannot resolve is a 500, never a 403.
type Authority struct {
	World    *world.World
	Settings *settings.Store
}

// Of returns what a caller may do, in all its organizations.
func (a *Authority) Of(caller wire.Caller) (acl.ACL, error) {
	role, err := a.role(caller.Service)
	if err != nil {
		return acl.ACL{}, err
	}
	if !caller.Impersonate {
		return acl.ACL{Global: role}, nil
	}
	organizations, err := a.organizations(caller.Principal)
	if err != nil {
		return acl.ACL{}, err
	}
	somebody := acl.People(a.World.Memberships(caller.Principal.Actor), organizations)
	return acl.Impersonated(somebody, role), nil
}

// Within returns what a caller may do in one organization. Of a person it is
// one that the person is said to belong to.
func (a *Authority) Within(caller wire.Caller, organization ids.OrganizationID) (acl.ACL, error) {
	all, err := a.Of(caller)
	if err != nil {
		return acl.ACL{}, err
	}
	if _, err := a.World.Organization(organization); err != nil {
		return acl.ACL{}, unresolved()
	}
	if caller.Impersonate && !slices.Contains(asserted(caller.Principal), organization) {
		return acl.ACL{}, unresolved()
	}
	within := acl.ACL{Global: all.Global, Organizations: map[ids.OrganizationID]acl.Organization{}}
	if own, member := all.Organizations[organization]; member {
		within.Organizations[organization] = own
	}
	return within, nil
}

// MayCreate tells whether something can be created in a project. Only through
// a grant for a whole organization is the project looked up; a project's own
// grant knows it and a global one is trusted.
func (a *Authority) MayCreate(rights acl.ACL, kind string, organization ids.OrganizationID, project ids.ProjectID) error {
	create := unikorn.OperationCreate
	switch {
	case rights.AllowsGlobally(kind, create), rights.GrantedByProject(kind, create, organization, project):
		return nil
	case !rights.AllowsInOrganization(kind, create, organization):
		return wire.Denied(kind, create)
	}
	if _, err := a.World.Project(organization, project); err != nil {
		return wire.Error(http.StatusNotFound, "")
	}
	return nil
}

func (a *Authority) role(service string) (acl.Grants, error) {
	role, known := acl.ServiceRole(service)
	if !known {
		return nil, unresolved()
	}
	if a.Settings.Get().QuotasReadable {
		role[acl.Quotas] = sets.New(unikorn.OperationRead)
	}
	return role, nil
}

// organizations are those an impersonated principal is said to belong to, all
// of which must exist.
func (a *Authority) organizations(who principal.Principal) ([]ids.OrganizationID, error) {
	switch who.Type {
	case principal.TypeUser:
	case principal.TypeService:
		if len(who.OrganizationIDs) != 1 {
			return nil, unresolved()
		}
	default:
		return nil, unresolved()
	}
	organizations := asserted(who)
	for _, id := range organizations {
		if _, err := a.World.Organization(id); err != nil {
			return nil, unresolved()
		}
	}
	return organizations, nil
}

func asserted(who principal.Principal) []ids.OrganizationID {
	if len(who.OrganizationIDs) > 0 || who.OrganizationID == "" {
		return who.OrganizationIDs
	}
	return []ids.OrganizationID{who.OrganizationID}
}

func unresolved() error {
	return wire.Error(http.StatusInternalServerError, "")
}
