// SPDX-License-Identifier: Apache-2.0

package region

import (
	"context"
	"net/http"
	"slices"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// InstanceTag is the tag of a server that names its instance. Nothing else
// leads from one to the other: docs/reference/wire.md, "Labels and annotations".
const InstanceTag = "compute.unikorn-cloud.org/instance-id"

// NetworkSelector selects the servers on a network. All fields are required.
type NetworkSelector struct {
	Organization ids.OrganizationID
	Project      ids.ProjectID
	Region       ids.RegionID
	Network      ids.NetworkID
}

// ServerSelector selects the servers of an instance, of which there should be
// one. All fields are required.
type ServerSelector struct {
	NetworkSelector
	Instance ids.InstanceID
}

func (s NetworkSelector) params() (*ListServersParams, error) {
	if s.Organization == "" || s.Project == "" || s.Region == "" || s.Network == "" {
		return nil, errUnscoped
	}
	return &ListServersParams{
		OrganizationIDs: OrganizationIDs{s.Organization},
		ProjectIDs:      ProjectIDs{s.Project},
		RegionIDs:       RegionIDs{s.Region},
		NetworkIDs:      NetworkIDs{s.Network},
	}, nil
}

func (s ServerSelector) params() (*ListServersParams, error) {
	params, err := s.NetworkSelector.params()
	if err != nil {
		return nil, err
	}
	if s.Instance == "" {
		return nil, errUnscoped
	}
	params.Tags = Tags{InstanceTag + "=" + string(s.Instance)}
	return params, nil
}

// Servers lists the servers of an instance. The list may lag writes by a moment,
// and has a server that is being deleted.
func (c *Client) Servers(ctx context.Context, credential principal.Credential, selector ServerSelector) ([]Server, error) {
	params, err := selector.params()
	if err != nil {
		return nil, err
	}
	return c.servers(ctx, credential, params)
}

// NetworkServers lists the servers on a network, as Servers does.
func (c *Client) NetworkServers(ctx context.Context, credential principal.Credential, selector NetworkSelector) ([]Server, error) {
	params, err := selector.params()
	if err != nil {
		return nil, err
	}
	return c.servers(ctx, credential, params)
}

func (c *Client) servers(ctx context.Context, credential principal.Credential, params *ListServersParams) ([]Server, error) {
	return unikorn.List[Server](ctx, c.caller, endpoint("ListServers"), func(ctx context.Context) (*http.Response, error) {
		return c.wire.ListServers(ctx, params, edit(credential))
	})
}

// Server reads a server.
func (c *Client) Server(ctx context.Context, credential principal.Credential, id ids.ServerID) (*Server, error) {
	return unikorn.Call[Server](ctx, c.caller, endpoint("GetServer"), func(ctx context.Context) (*http.Response, error) {
		return c.wire.GetServer(ctx, id, edit(credential))
	})
}

// CreateServer makes a server. unikorn.IsConflict says that the name is taken on
// the network, also by a server that is being deleted. A dropped connection, an
// unknown outcome, is also what region answers when the network, the image or
// another reference does not exist.
func (c *Client) CreateServer(ctx context.Context, credential principal.Credential, server ServerCreate) (*Server, error) {
	return unikorn.Call[Server](ctx, c.caller, about("CreateServer"), func(ctx context.Context) (*http.Response, error) {
		return c.wire.CreateServer(ctx, server, edit(credential))
	})
}

// UpdateServer replaces metadata and spec of a server. The metadata must carry
// InstanceTag, or the server is lost to its instance. unikorn.IsBadRequest says
// that the server is being deleted.
func (c *Client) UpdateServer(ctx context.Context, credential principal.Credential, id ids.ServerID, server ServerUpdate) (*Server, error) {
	return unikorn.Call[Server](ctx, c.caller, about("UpdateServer"), func(ctx context.Context) (*http.Response, error) {
		return c.wire.UpdateServer(ctx, id, server, edit(credential))
	})
}

// DeleteServer asks for the deletion of a server. It goes on after the call, and
// asking again while it does is harmless. unikorn.IsNotFound says it is gone.
func (c *Client) DeleteServer(ctx context.Context, credential principal.Credential, id ids.ServerID) error {
	return unikorn.Do(ctx, c.caller, endpoint("DeleteServer"), func(ctx context.Context) (*http.Response, error) {
		return c.wire.DeleteServer(ctx, id, edit(credential))
	})
}

// about is an endpoint whose 400, 409 and 422 are about the server: it is in no
// state for the call, its name is taken, or what a person asked for it to be
// breaks a rule.
func about(name string) unikorn.Endpoint {
	return refusing(name, http.StatusBadRequest, http.StatusConflict, http.StatusUnprocessableEntity)
}

// refusing is an endpoint whose answers of those statuses are about what the
// call is for.
func refusing(name string, statuses ...int) unikorn.Endpoint {
	return unikorn.Endpoint{Name: name, ByRule: func(refusal *unikorn.Error) bool {
		return slices.Contains(statuses, refusal.StatusCode)
	}}
}
