// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	"github.com/unikorn-cloud/instance-apiserver/pkg/identity"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/quota"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
)

// Signer makes the credential of a call for a principal.
type Signer interface {
	Sign(principal.Principal) principal.Credential
}

// ServerLister lists the servers on a network.
type ServerLister interface {
	NetworkServers(context.Context, principal.Credential, region.NetworkSelector) ([]region.Server, error)
}

// ServerClient makes, changes and removes servers.
type ServerClient interface {
	ServerLister
	Server(context.Context, principal.Credential, ids.ServerID) (*region.Server, error)
	CreateServer(context.Context, principal.Credential, region.ServerCreate) (*region.Server, error)
	UpdateServer(context.Context, principal.Credential, ids.ServerID, region.ServerUpdate) (*region.Server, error)
	DeleteServer(context.Context, principal.Credential, ids.ServerID) error
}

// NetworkReader tells whose a network is.
type NetworkReader interface {
	Network(context.Context, principal.Credential, ids.NetworkID) (*region.Network, error)
}

// FlavorLister tells what flavors cost.
type FlavorLister interface {
	Flavors(context.Context, principal.Credential, ids.OrganizationID, ids.RegionID) ([]region.Flavor, error)
}

// ReferenceReader tells whether what servers are made of is there.
type ReferenceReader interface {
	Images(context.Context, principal.Credential, ids.OrganizationID, ids.RegionID) ([]region.Image, error)
	SecurityGroup(context.Context, principal.Credential, ids.SecurityGroupID) (*region.SecurityGroup, error)
	SSHCertificateAuthority(context.Context, principal.Credential, ids.SSHCertificateAuthorityID) (*region.SSHCertificateAuthority, error)
}

// RegionClient is what the controller needs of the region service.
type RegionClient interface {
	ServerClient
	NetworkReader
	FlavorLister
	ReferenceReader
}

// AllocationClient is what the controller needs of the identity service.
type AllocationClient interface {
	quota.Releaser
	CreateAllocation(context.Context, principal.Credential, ids.OrganizationID, ids.ProjectID, identity.AllocationWrite) (*identity.Allocation, error)
	Allocation(context.Context, principal.Credential, ids.OrganizationID, ids.ProjectID, ids.AllocationID) (*identity.Allocation, error)
	UpdateAllocation(context.Context, principal.Credential, ids.OrganizationID, ids.ProjectID, ids.AllocationID, identity.AllocationWrite) (*identity.Allocation, error)
}

var (
	_ RegionClient     = &region.Client{}
	_ AllocationClient = &identity.Client{}
	_ Signer           = &principal.Signer{}
)
