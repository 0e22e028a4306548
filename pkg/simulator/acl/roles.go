// SPDX-License-Identifier: Apache-2.0

package acl

import (
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// Kinds of things that requests of instances touch.
const (
	Organizations             = "identity:organizations"
	Projects                  = "identity:projects"
	Allocations               = "identity:allocations"
	Quotas                    = "identity:quotas"
	Regions                   = "region:regions"
	Flavors                   = "region:flavors"
	Images                    = "region:images"
	Networks                  = "region:networks:v2"
	SecurityGroups            = "region:securitygroups:v2"
	SSHCertificateAuthorities = "region:sshcertificateauthorities:v2"
	Servers                   = "region:servers"
	Instances                 = "compute:instances"
)

// Certificate names of the services that have a role.
const (
	ServiceCompute    = "unikorn-compute"
	ServiceRegion     = "unikorn-region"
	ServiceKubernetes = "unikorn-kubernetes"
	ServiceStorage    = "uni-storage"
)

func read() sets.Set[unikorn.Operation] {
	return sets.New(unikorn.OperationRead)
}

func everything() sets.Set[unikorn.Operation] {
	return sets.New(unikorn.OperationCreate, unikorn.OperationRead, unikorn.OperationUpdate, unikorn.OperationDelete)
}

// ServiceRole returns what a service may do everywhere, by the name in its
// certificate, and whether the name has a role at all. Compute's is the
// shipped one; of the others only the names are known, and the role of
// kubernetes is the one to prepare networks and authorities with.
func ServiceRole(certificateName string) (Grants, bool) {
	switch certificateName {
	case ServiceCompute:
		return computeRole(), true
	case ServiceRegion, ServiceStorage:
		return Grants{Projects: read(), Allocations: everything()}, true
	case ServiceKubernetes:
		return Grants{
			Projects: read(), Allocations: everything(),
			Regions: read(), Flavors: read(), Images: read(),
			Networks: everything(), SecurityGroups: everything(), SSHCertificateAuthorities: everything(),
		}, true
	}
	return nil, false
}

func computeRole() Grants {
	return Grants{
		Projects:                  read(),
		Allocations:               everything(),
		Regions:                   read(),
		Flavors:                   read(),
		Images:                    sets.New(unikorn.OperationRead, unikorn.OperationCreate),
		Networks:                  read(),
		Servers:                   everything(),
		SecurityGroups:            read(),
		SSHCertificateAuthorities: read(),
		// For clusters; nothing that instances use reads them.
		"region:identities":     everything(),
		"region:networks":       everything(),
		"region:securitygroups": everything(),
		"region:servers:v2":     everything(),
	}
}

// Role is what a person is in a project.
type Role string

// The roles people have.
const (
	RoleEditor Role = "editor"
	RoleViewer Role = "viewer"
)

// Membership is a role of somebody in a project.
type Membership struct {
	Organization ids.OrganizationID
	Project      ids.ProjectID
	Role         Role
}

// People returns what somebody with some memberships may do in the
// organizations it is said to belong to. An organization without a membership
// is left out. Nobody holds region:servers: servers are the services' own.
func People(memberships []Membership, organizations []ids.OrganizationID) ACL {
	result := ACL{Organizations: map[ids.OrganizationID]Organization{}}
	belongs := sets.New(organizations...)
	for _, membership := range memberships {
		if !belongs.Has(membership.Organization) {
			continue
		}
		organization, known := result.Organizations[membership.Organization]
		if !known {
			organization = Organization{Grants: Grants{}, Projects: map[ids.ProjectID]Grants{}}
		}
		inOrganization, inProject := membership.Role.grants()
		organization.Grants.add(inOrganization)
		if organization.Projects[membership.Project] == nil {
			organization.Projects[membership.Project] = Grants{}
		}
		organization.Projects[membership.Project].add(inProject)
		result.Organizations[membership.Organization] = organization
	}
	return result
}

func (r Role) grants() (organization, project Grants) {
	organization = Grants{Organizations: read(), Regions: read(), Flavors: read(), Images: read()}
	project = Grants{
		Projects: read(), Networks: read(), SecurityGroups: read(), SSHCertificateAuthorities: read(), Instances: read(),
	}
	if r == RoleEditor {
		organization.add(Grants{Images: everything()})
		project.add(Grants{
			Networks: everything(), SecurityGroups: everything(), SSHCertificateAuthorities: everything(), Instances: everything(),
		})
	}
	return organization, project
}
