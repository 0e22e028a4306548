// SPDX-License-Identifier: Apache-2.0

package principal

import (
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
)

// OrganizationIDsExtra is the key of user info under which an authenticator
// lists all organizations of a person, one id a value.
const OrganizationIDsExtra = "unikorn-cloud.org/organization-ids"

// systemPrefix is reserved by Kubernetes for users that are not people.
const systemPrefix = "system:"

var instances = schema.GroupResource{Group: "compute.unikorn-cloud.org", Resource: "instances"}

// Resolver says who the callers of the API are to the platform.
type Resolver struct {
	// UsernamePrefix is what the authenticator puts before the names by which
	// identity knows people. A name without it is of another authenticator,
	// and must not be taken for a person of the same name.
	UsernamePrefix string
	// PlatformGroups are the groups whose members operate the platform. Identity
	// does not know them.
	PlatformGroups []string
}

// Caller is the caller of a request, as the platform knows it.
type Caller struct {
	Principal Principal
	// Platform says that the caller operates the platform and is unknown to
	// identity.
	Platform bool
}

// Credential is for reads that show what the caller may use. They are made with
// the caller's rights, but for an operator of the platform with those of this
// service. Calls about servers and allocations use Service in every case: people
// hold no rights to them.
func (c Caller) Credential() Credential {
	if c.Platform {
		return Service(c.Principal)
	}
	return Impersonate(c.Principal)
}

// Resolve says who the caller of a request about a project is. It fails with
// Forbidden when the platform has no name for the caller, for a person who is
// known not to be in the organization, and when what is known of that is
// malformed.
func (r Resolver) Resolve(caller user.Info, organization ids.OrganizationID, project ids.ProjectID) (Caller, error) {
	if sets.New(caller.GetGroups()...).HasAny(r.PlatformGroups...) {
		return Caller{Principal: about(organization, project, TypeService, caller.GetName()), Platform: true}, nil
	}
	if _, _, err := serviceaccount.SplitUsername(caller.GetName()); err == nil {
		return Caller{Principal: about(organization, project, TypeService, caller.GetName())}, nil
	}
	actor, ok := r.person(caller.GetName())
	if !ok {
		return Caller{}, r.refusal(caller)
	}
	p := about(organization, project, TypeUser, actor)
	organizations := organizationIDs(caller)
	if slices.ContainsFunc(organizations, malformed) {
		// What is none of them may have been the one that matters, and the services
		// answer as if they were broken.
		return Caller{}, apierrors.NewForbidden(instances, "", fmt.Errorf(
			"what the authenticator says of user %q in the extra %s is not all ids of organizations",
			caller.GetName(), OrganizationIDsExtra))
	}
	if len(organizations) > 0 {
		p.OrganizationIDs = organizations
	}
	if !slices.Contains(p.OrganizationIDs, organization) {
		// The services have no better answer to this than that they failed.
		return Caller{}, apierrors.NewForbidden(instances, "", fmt.Errorf(
			"user %q is not in the organization of the namespace, %s", caller.GetName(), organization))
	}
	return Caller{Principal: p}, nil
}

// person is the name by which identity knows a person.
func (r Resolver) person(name string) (string, bool) {
	if strings.HasPrefix(name, systemPrefix) {
		return "", false
	}
	actor, ok := strings.CutPrefix(name, r.UsernamePrefix)
	if !ok || actor == "" || strings.HasPrefix(actor, systemPrefix) {
		return "", false
	}
	return actor, true
}

func (r Resolver) refusal(caller user.Info) error {
	name := caller.GetName()
	if strings.HasPrefix(name, systemPrefix) {
		return apierrors.NewForbidden(instances, "", fmt.Errorf(
			"user %q is neither a person nor a service account known to the platform; "+
				"an operator may add one of its groups to --platform-groups", name))
	}
	return apierrors.NewForbidden(instances, "", fmt.Errorf(
		"user %q is not known to the platform: names of people start with %q (--principal-username-prefix)",
		name, r.UsernamePrefix))
}

func about(organization ids.OrganizationID, project ids.ProjectID, kind Type, actor string) Principal {
	return Principal{
		OrganizationID:  organization,
		OrganizationIDs: []ids.OrganizationID{organization},
		ProjectID:       project,
		Type:            kind,
		Actor:           actor,
	}
}

func malformed(id ids.OrganizationID) bool {
	return !ids.IsUUID(string(id))
}

// organizationIDs are sorted, so that one person is always written the same way.
func organizationIDs(caller user.Info) []ids.OrganizationID {
	found := sets.New[ids.OrganizationID]()
	for _, value := range caller.GetExtra()[OrganizationIDsExtra] {
		if value != "" {
			found.Insert(ids.OrganizationID(value))
		}
	}
	sorted := found.UnsortedList()
	slices.Sort(sorted)
	return sorted
}
