// SPDX-License-Identifier: Apache-2.0

package acl_test

import (
	"testing"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/acl"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

const (
	acme     ids.OrganizationID = "acme"
	umbrella ids.OrganizationID = "umbrella"
	alpha    ids.ProjectID      = "alpha"
	beta     ids.ProjectID      = "beta"
)

func compute(t *testing.T) acl.Grants {
	t.Helper()
	role, known := acl.ServiceRole(acl.ServiceCompute)
	if !known {
		t.Fatal("compute has no role")
	}
	return role
}

func TestImpersonationIntersects(t *testing.T) {
	editor := acl.People([]acl.Membership{{Organization: acme, Project: alpha, Role: acl.RoleEditor}}, []ids.OrganizationID{acme, umbrella})
	both := acl.Impersonated(editor, compute(t))

	tests := []struct {
		name      string
		kind      string
		operation unikorn.Operation
		project   ids.ProjectID
		want      bool
	}{
		{"both read networks of the project", acl.Networks, unikorn.OperationRead, alpha, true},
		{"not of another project", acl.Networks, unikorn.OperationRead, beta, false},
		{"the service does not delete networks", acl.Networks, unikorn.OperationDelete, alpha, false},
		{"people hold no servers", acl.Servers, unikorn.OperationRead, alpha, false},
		{"both read flavors in the organization", acl.Flavors, unikorn.OperationRead, beta, true},
		{"the service holds no instances", acl.Instances, unikorn.OperationRead, alpha, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := both.AllowsInProject(test.kind, test.operation, acme, test.project); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
	if both.AllowsInOrganization(acl.Flavors, unikorn.OperationRead, umbrella) {
		t.Error("a membership in one organization reaches another")
	}
}

func TestViewersOnlyRead(t *testing.T) {
	viewer := acl.People([]acl.Membership{{Organization: acme, Project: alpha, Role: acl.RoleViewer}}, []ids.OrganizationID{acme})
	if !viewer.AllowsInProject(acl.Networks, unikorn.OperationRead, acme, alpha) {
		t.Error("a viewer cannot read")
	}
	if viewer.AllowsInProject(acl.Networks, unikorn.OperationUpdate, acme, alpha) {
		t.Error("a viewer can update")
	}
}

func TestMembershipCountsOnlyWhereItIsAsserted(t *testing.T) {
	stranger := acl.People([]acl.Membership{{Organization: acme, Project: alpha, Role: acl.RoleEditor}}, []ids.OrganizationID{umbrella})
	if len(stranger.Organizations) != 0 {
		t.Errorf("got %v", stranger.Organizations)
	}
}

func TestScopeOfLists(t *testing.T) {
	member := acl.People([]acl.Membership{{Organization: acme, Project: alpha, Role: acl.RoleViewer}}, []ids.OrganizationID{acme})
	service := acl.ACL{Global: compute(t)}
	tests := []struct {
		name    string
		caller  acl.ACL
		asked   []ids.OrganizationID
		overlap bool
		acme    bool
		other   bool
	}{
		{"a service asks for nothing", service, nil, true, true, true},
		{"a service asks for one", service, []ids.OrganizationID{acme}, true, true, false},
		{"a member asks for nothing", member, nil, true, true, false},
		{"a member asks for its own and another", member, []ids.OrganizationID{acme, umbrella}, true, true, false},
		{"a member asks for another", member, []ids.OrganizationID{umbrella}, false, false, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			scope, overlap := test.caller.Scope(test.asked)
			if overlap != test.overlap || scope.Includes(acme) != test.acme || scope.Includes(umbrella) != test.other {
				t.Errorf("overlap %t, acme %t, umbrella %t", overlap, scope.Includes(acme), scope.Includes(umbrella))
			}
		})
	}
}
