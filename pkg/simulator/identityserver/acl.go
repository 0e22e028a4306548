// SPDX-License-Identifier: Apache-2.0

package identityserver

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/unikorn-cloud/instance-apiserver/pkg/identity"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/acl"
)

// shownACL is what a caller may do as identity writes it: members that are
// empty are absent.
func shownACL(rights acl.ACL) identity.ACL {
	shown := identity.ACL{Global: endpoints(rights.Global)}
	for _, id := range slices.Sorted(maps.Keys(rights.Organizations)) {
		organization := rights.Organizations[id]
		own := identity.ACLOrganization{ID: id, Endpoints: endpoints(organization.Grants)}
		for _, project := range slices.Sorted(maps.Keys(organization.Projects)) {
			own.Projects = append(own.Projects, identity.ACLProject{
				ID: project, Endpoints: endpoints(organization.Projects[project]),
			})
		}
		shown.Organizations = append(shown.Organizations, own)
	}
	return shown
}

func endpoints(grants acl.Grants) []identity.ACLEndpoint {
	shown := make([]identity.ACLEndpoint, 0, len(grants))
	for _, kind := range slices.Sorted(maps.Keys(grants)) {
		shown = append(shown, identity.ACLEndpoint{Name: kind, Operations: sets.List(grants[kind])})
	}
	return shown
}
