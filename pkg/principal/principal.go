// SPDX-License-Identifier: Apache-2.0

// Package principal says to region and identity on whose behalf a call is
// made: who the caller of a request is, how that is written into a request, and
// how it is read from one. The facts are in docs/reference/wire.md, "Principal".
package principal

import (
	"context"
	"errors"
	"net/http"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
)

// Type is the kind of an actor.
type Type string

// The kinds of actors. The services do not accept an impersonated system actor.
const (
	TypeUser    Type = "user"
	TypeService Type = "service"
	TypeSystem  Type = "system"
)

// Principal says for whom a call is made.
type Principal struct {
	// OrganizationID is the organization of the request. It and ProjectID are
	// given together: the services misbehave when only one of them is.
	OrganizationID ids.OrganizationID `json:"organizationId,omitempty"`
	// OrganizationIDs are all organizations of the actor, always the full set,
	// because the services cache an actor's rights under its name alone.
	OrganizationIDs []ids.OrganizationID `json:"organizationIds,omitempty"`
	// ProjectID is the project of the request.
	ProjectID ids.ProjectID `json:"projectId,omitempty"`
	// Type is the kind of the actor.
	Type Type `json:"type,omitempty"`
	// Actor is the name of the person or service.
	Actor string `json:"actor,omitempty"`
}

// Credential says in a request for whom it is made. It fails when the principal
// cannot be sent; nothing is sent then.
type Credential func(ctx context.Context, req *http.Request) error

const (
	principalHeader   = "X-Principal"
	impersonateHeader = "X-Impersonate"
	impersonateValue  = "true"
)

var (
	errHalfScope     = errors.New("principal has an organization or a project but not both")
	errNoActor       = errors.New("principal to impersonate has no actor")
	errNotOneOwner   = errors.New("service to impersonate does not have exactly one organization")
	errNotPersonated = errors.New("only users and services can be impersonated")
)

func (p Principal) validate() error {
	if (p.OrganizationID == "") != (p.ProjectID == "") {
		return errHalfScope
	}
	return nil
}

func (p Principal) validateImpersonation() error {
	switch {
	case p.Actor == "":
		return errNoActor
	case p.Type == TypeService && len(p.OrganizationIDs) != 1:
		return errNotOneOwner
	case p.Type != TypeService && p.Type != TypeUser:
		return errNotPersonated
	}
	return p.validate()
}

// Service makes calls with the rights of this service; the principal only says
// whom they are for.
func Service(p Principal) Credential {
	return func(_ context.Context, req *http.Request) error {
		return p.write(req)
	}
}

// Impersonate makes calls with the rights that the principal and this service
// have in common.
func Impersonate(p Principal) Credential {
	return func(_ context.Context, req *http.Request) error {
		if err := p.validateImpersonation(); err != nil {
			return err
		}
		if err := p.write(req); err != nil {
			return err
		}
		req.Header.Set(impersonateHeader, impersonateValue)
		return nil
	}
}

func (p Principal) write(req *http.Request) error {
	if err := p.validate(); err != nil {
		return err
	}
	encoded, err := p.Encode()
	if err != nil {
		return err
	}
	req.Header.Set(principalHeader, encoded)
	return nil
}
