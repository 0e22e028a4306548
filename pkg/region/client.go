// SPDX-License-Identifier: Apache-2.0

// Package region is the client of the region service, where networks, flavors,
// images and servers are. openapi.yaml describes the part of the service that
// instances need; Client is how the rest of this module uses it.
//
// Every method says for whom it calls, by a principal.Credential, and fails with
// *unikorn.Error when the service does not do what was asked.
package region

import (
	"context"
	"errors"
	"net/http"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// Client calls the region service.
type Client struct {
	caller *unikorn.Client
	wire   *wireClient
}

// New returns a client of the region service at the configured place.
func New(config unikorn.Config) (*Client, error) {
	caller, err := unikorn.NewClient(unikorn.RegionService, config)
	if err != nil {
		return nil, err
	}
	wire, err := NewClient(caller.Host(), WithHTTPClient(caller))
	if err != nil {
		return nil, err
	}
	return &Client{caller: caller, wire: wire}, nil
}

func endpoint(name string) unikorn.Endpoint {
	return unikorn.Endpoint{Name: name}
}

func edit(credential principal.Credential) RequestEditorFn {
	return RequestEditorFn(credential)
}

// Regions lists the regions an organization may use, in no particular order.
func (c *Client) Regions(ctx context.Context, credential principal.Credential, organization ids.OrganizationID) ([]Region, error) {
	return unikorn.List[Region](ctx, c.caller, endpoint("ListRegions"), func(ctx context.Context) (*http.Response, error) {
		return c.wire.ListRegions(ctx, organization, edit(credential))
	})
}

// Flavors lists the flavors of a region that an organization may use.
func (c *Client) Flavors(ctx context.Context, credential principal.Credential, organization ids.OrganizationID, region ids.RegionID) ([]Flavor, error) {
	return unikorn.List[Flavor](ctx, c.caller, endpoint("ListFlavors"), func(ctx context.Context) (*http.Response, error) {
		return c.wire.ListFlavors(ctx, organization, region, edit(credential))
	})
}

// Images lists the images of a region that an organization can boot from: those
// of its own and those of nobody that are ready. The shorter list made for
// people to choose from is not asked for.
func (c *Client) Images(ctx context.Context, credential principal.Credential, organization ids.OrganizationID, region ids.RegionID) ([]Image, error) {
	if organization == "" {
		return nil, errUnscoped
	}
	scope := ImageScopeAvailable
	params := &ListImagesParams{
		OrganizationIDs: OrganizationIDs{organization},
		Scope:           &scope,
		Status:          []ImageState{ImageReady},
	}
	return unikorn.List[Image](ctx, c.caller, endpoint("ListImages"), func(ctx context.Context) (*http.Response, error) {
		return c.wire.ListImages(ctx, region, params, edit(credential))
	})
}

// Network reads a network.
func (c *Client) Network(ctx context.Context, credential principal.Credential, id ids.NetworkID) (*Network, error) {
	return unikorn.Call[Network](ctx, c.caller, endpoint("GetNetwork"), func(ctx context.Context) (*http.Response, error) {
		return c.wire.GetNetwork(ctx, id, edit(credential))
	})
}

// SecurityGroup reads a security group.
func (c *Client) SecurityGroup(ctx context.Context, credential principal.Credential, id ids.SecurityGroupID) (*SecurityGroup, error) {
	return unikorn.Call[SecurityGroup](ctx, c.caller, endpoint("GetSecurityGroup"), func(ctx context.Context) (*http.Response, error) {
		return c.wire.GetSecurityGroup(ctx, id, edit(credential))
	})
}

// SSHCertificateAuthority reads an SSH certificate authority.
func (c *Client) SSHCertificateAuthority(ctx context.Context, credential principal.Credential, id ids.SSHCertificateAuthorityID) (*SSHCertificateAuthority, error) {
	return unikorn.Call[SSHCertificateAuthority](ctx, c.caller, endpoint("GetSSHCertificateAuthority"), func(ctx context.Context) (*http.Response, error) {
		return c.wire.GetSSHCertificateAuthority(ctx, id, edit(credential))
	})
}

// errUnscoped is a mistake in this program: an empty filter selects what
// belongs to everybody.
var errUnscoped = errors.New("list of the region service without all its filters")
