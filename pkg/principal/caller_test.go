// SPDX-License-Identifier: Apache-2.0

package principal_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
)

const (
	acme  ids.OrganizationID = "0a000000-0000-4000-8000-0000000000a0"
	other ids.OrganizationID = "0b000000-0000-4000-8000-0000000000b0"
	alpha ids.ProjectID      = "0a000000-0000-4000-8000-0000000000a1"
)

func TestResolve(t *testing.T) {
	const robot = "system:serviceaccount:alpha:robot"
	platform := []string{"system:masters", "operators"}
	tests := map[string]struct {
		resolver      principal.Resolver
		user          user.DefaultInfo
		kind          principal.Type
		actor         string
		organizations []ids.OrganizationID
		platform      bool
	}{
		"a person": {
			user: user.DefaultInfo{Name: "alice"},
			kind: principal.TypeUser, actor: "alice", organizations: []ids.OrganizationID{acme},
		},
		"a person with a prefix": {
			resolver: principal.Resolver{UsernamePrefix: "oidc:"},
			user:     user.DefaultInfo{Name: "oidc:alice"},
			kind:     principal.TypeUser, actor: "alice", organizations: []ids.OrganizationID{acme},
		},
		"a person of several organizations": {
			user: user.DefaultInfo{Name: "alice", Extra: map[string][]string{
				principal.OrganizationIDsExtra: {string(other), "", string(acme), string(other)},
			}},
			kind: principal.TypeUser, actor: "alice", organizations: []ids.OrganizationID{acme, other},
		},
		"a service account": {
			resolver: principal.Resolver{UsernamePrefix: "oidc:"},
			user: user.DefaultInfo{Name: robot, Extra: map[string][]string{
				principal.OrganizationIDsExtra: {string(acme), string(other)},
			}},
			kind: principal.TypeService, actor: robot, organizations: []ids.OrganizationID{acme},
		},
		"an operator": {
			resolver: principal.Resolver{PlatformGroups: platform},
			user:     user.DefaultInfo{Name: "system:admin", Groups: []string{"system:masters"}},
			kind:     principal.TypeService, actor: "system:admin", organizations: []ids.OrganizationID{acme}, platform: true,
		},
		"an operator's service account": {
			resolver: principal.Resolver{PlatformGroups: platform},
			user:     user.DefaultInfo{Name: robot, Groups: []string{"operators"}},
			kind:     principal.TypeService, actor: robot, organizations: []ids.OrganizationID{acme}, platform: true,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := test.resolver.Resolve(&test.user, acme, alpha)
			if err != nil {
				t.Fatal(err)
			}
			want := principal.Caller{Platform: test.platform, Principal: principal.Principal{
				OrganizationID: acme, OrganizationIDs: test.organizations, ProjectID: alpha, Type: test.kind, Actor: test.actor,
			}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			impersonates := header(t, got.Credential()).Get("X-Impersonate") == "true"
			if impersonates == test.platform {
				t.Errorf("impersonates: %t", impersonates)
			}
		})
	}
}

func TestResolveRefuses(t *testing.T) {
	prefixed := principal.Resolver{UsernamePrefix: "oidc:", PlatformGroups: []string{"operators"}}
	tests := map[string]struct {
		resolver principal.Resolver
		name     string
	}{
		"system name":                        {name: "system:admin"},
		"anonymous":                          {name: "system:anonymous"},
		"node":                               {name: "system:node:one"},
		"malformed service account":          {name: "system:serviceaccount:alpha"},
		"nobody":                             {name: ""},
		"name of another authenticator":      {resolver: prefixed, name: "alice"},
		"prefix and no name":                 {resolver: prefixed, name: "oidc:"},
		"prefix and a system name":           {resolver: prefixed, name: "oidc:system:admin"},
		"prefix and a service account":       {resolver: prefixed, name: "oidc:system:serviceaccount:alpha:robot"},
		"system name where people have none": {resolver: principal.Resolver{UsernamePrefix: "system:"}, name: "system:alice"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := test.resolver.Resolve(&user.DefaultInfo{Name: test.name, Groups: []string{"system:masters"}}, acme, alpha)
			if !apierrors.IsForbidden(err) {
				t.Fatalf("got %v, %v", got, err)
			}
			if !strings.Contains(err.Error(), test.name) || !strings.Contains(err.Error(), "--") {
				t.Errorf("%q says neither who it is nor what to do", err)
			}
		})
	}
}

// The services answer what they are asked for somebody of another organization
// as if they were broken.
func TestResolveRefusesPeopleOfOtherOrganizations(t *testing.T) {
	_, err := principal.Resolver{}.Resolve(&user.DefaultInfo{Name: "alice", Extra: map[string][]string{
		principal.OrganizationIDsExtra: {string(other)},
	}}, acme, alpha)
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `"alice" is not in the organization`) {
		t.Errorf("got %v", err)
	}
}

// The services answer what they are asked for somebody of a malformed id as if
// they were broken.
func TestResolveRefusesMalformedOrganizations(t *testing.T) {
	for _, malformed := range []string{"acme", strings.ToUpper(string(other)), string(other) + " ", string(acme) + "," + string(other)} {
		_, err := principal.Resolver{}.Resolve(&user.DefaultInfo{Name: "alice", Extra: map[string][]string{
			principal.OrganizationIDsExtra: {string(acme), malformed},
		}}, acme, alpha)
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "extra "+principal.OrganizationIDsExtra) {
			t.Errorf("%q: got %v", malformed, err)
		}
	}
}
