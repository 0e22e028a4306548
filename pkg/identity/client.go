// SPDX-License-Identifier: Apache-2.0

// Package identity is the client of the identity service, where organizations,
// projects and their quotas are. openapi.yaml describes the part of the service
// that instances need; Client is how the rest of this module uses it.
//
// Every method says for whom it calls, by a principal.Credential, and fails with
// *unikorn.Error when the service does not do what was asked, or with
// *QuotaExceededError when it cannot for lack of quota.
package identity

import (
	"context"
	"net/http"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

var _ unikorn.Completer = &Allocation{}

// Client calls the identity service.
type Client struct {
	caller *unikorn.Client
	wire   *wireClient
}

// New returns a client of the identity service at the configured place.
func New(config unikorn.Config) (*Client, error) {
	caller, err := unikorn.NewClient(unikorn.IdentityService, config)
	if err != nil {
		return nil, err
	}
	wire, err := NewClient(caller.Host(), WithHTTPClient(caller))
	if err != nil {
		return nil, err
	}
	return &Client{caller: caller, wire: wire}, nil
}

// ID is the allocation's identifier.
func (a *Allocation) ID() ids.AllocationID { return ids.AllocationID(a.Metadata.ID) }

// Complete says whether the allocation names itself.
func (a *Allocation) Complete() bool { return a.Metadata.ID != "" }

func edit(credential principal.Credential) RequestEditorFn {
	return RequestEditorFn(credential)
}

// CreateAllocation charges quota. It is not idempotent and must not be repeated
// when unikorn.OutcomeUnknown says that a first call may have charged.
func (c *Client) CreateAllocation(ctx context.Context, credential principal.Credential, organization ids.OrganizationID, project ids.ProjectID, allocation AllocationWrite) (*Allocation, error) {
	created, err := unikorn.Call[Allocation](ctx, c.caller, charging("CreateAllocation"), func(ctx context.Context) (*http.Response, error) {
		return c.wire.CreateAllocation(ctx, organization, project, allocation, edit(credential))
	})
	return created, quotaExceeded(err, allocation)
}

// Allocation reads an allocation. unikorn.IsNotFound says that it does not
// exist; unikorn.IsServerError is also the answer for a project that does not.
func (c *Client) Allocation(ctx context.Context, credential principal.Credential, organization ids.OrganizationID, project ids.ProjectID, id ids.AllocationID) (*Allocation, error) {
	return unikorn.Call[Allocation](ctx, c.caller, unikorn.Endpoint{Name: "GetAllocation"}, func(ctx context.Context) (*http.Response, error) {
		return c.wire.GetAllocation(ctx, organization, project, id, edit(credential))
	})
}

// UpdateAllocation replaces what an allocation charges. unikorn.IsConflict says
// that somebody else did at the same time.
func (c *Client) UpdateAllocation(ctx context.Context, credential principal.Credential, organization ids.OrganizationID, project ids.ProjectID, id ids.AllocationID, allocation AllocationWrite) (*Allocation, error) {
	updated, err := unikorn.Call[Allocation](ctx, c.caller, recharging("UpdateAllocation"), func(ctx context.Context) (*http.Response, error) {
		return c.wire.UpdateAllocation(ctx, organization, project, id, allocation, edit(credential))
	})
	return updated, quotaExceeded(err, allocation)
}

// DeleteAllocation gives quota back. unikorn.IsNotFound says that it was given
// back before. unikorn.IsServerError is also the answer for a project that does
// not exist any more; Project tells whether that is so.
func (c *Client) DeleteAllocation(ctx context.Context, credential principal.Credential, organization ids.OrganizationID, project ids.ProjectID, id ids.AllocationID) error {
	return unikorn.Do(ctx, c.caller, unikorn.Endpoint{Name: "DeleteAllocation"}, func(ctx context.Context) (*http.Response, error) {
		return c.wire.DeleteAllocation(ctx, organization, project, id, edit(credential))
	})
}

// Project reads a project. unikorn.IsNotFound says that it does not exist.
func (c *Client) Project(ctx context.Context, credential principal.Credential, organization ids.OrganizationID, project ids.ProjectID) (*Project, error) {
	return unikorn.Call[Project](ctx, c.caller, unikorn.Endpoint{Name: "GetProject"}, func(ctx context.Context) (*http.Response, error) {
		return c.wire.GetProject(ctx, organization, project, edit(credential))
	})
}

// Quotas reads the quotas of an organization and what is used of them.
func (c *Client) Quotas(ctx context.Context, credential principal.Credential, organization ids.OrganizationID) (*Quotas, error) {
	return unikorn.Call[Quotas](ctx, c.caller, unikorn.Endpoint{Name: "GetQuotas"}, func(ctx context.Context) (*http.Response, error) {
		return c.wire.GetQuotas(ctx, organization, edit(credential))
	})
}
