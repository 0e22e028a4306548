// SPDX-License-Identifier: Apache-2.0

// Package regionserver is the simulated region service, as far as instances
// use it. The facts are in docs/reference/wire.md.
package regionserver

import (
	"cmp"
	"errors"
	"net/http"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/access"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/acl"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/machine"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/regionapi"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/settings"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/wire"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// Server implements the operations of region.
type Server struct {
	World     *world.World
	Settings  *settings.Store
	Authority *access.Authority
}

var _ regionapi.ServerInterface = &Server{}

// Handler returns the service. It fails when an operation is not described.
func Handler(server *Server) (http.Handler, error) {
	description, err := wire.LoadDescription(region.Description)
	if err != nil {
		return nil, err
	}
	router := wire.NewRouter(description)
	regionapi.HandlerWithOptions(server, regionapi.StdHTTPServerOptions{
		BaseRouter: router, ErrorHandlerFunc: wire.WriteBindError,
	})
	return router, router.Err()
}

// call is a request whose sender's rights are known.
type call struct {
	wire.Caller
	rights acl.ACL
}

// actor is who a change is attributed to.
func (c call) actor() string {
	return cmp.Or(c.Principal.Actor, c.Service)
}

// may tells whether the caller may do something to a thing.
func (c call) may(kind string, operation unikorn.Operation, thing unikorn.ProjectScopedReadMetadata) error {
	if c.rights.AllowsInProject(kind, operation, thing.OrganizationID, thing.ProjectID) {
		return nil
	}
	return wire.Denied(kind, operation)
}

// mayRead is the order of every look-up: a missing thing first, a forbidden
// one second.
func (c call) mayRead(kind string, thing unikorn.ProjectScopedReadMetadata, missing error) error {
	if missing != nil {
		return answerOf(missing)
	}
	return c.may(kind, unikorn.OperationRead, thing)
}

// answer handles an operation whose caller's rights span all organizations.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, status int, handle func(call) (any, error)) {
	wire.Answer(w, r, status, func(caller wire.Caller) (any, error) {
		rights, err := s.Authority.Of(caller)
		if err != nil {
			return nil, err
		}
		return handle(call{Caller: caller, rights: rights})
	})
}

// answerWithin handles an operation of one organization, which the caller must
// be allowed to read a kind of thing in.
func (s *Server) answerWithin(w http.ResponseWriter, r *http.Request, organization ids.OrganizationID, kind string, handle func() (any, error)) {
	wire.Answer(w, r, http.StatusOK, func(caller wire.Caller) (any, error) {
		rights, err := s.Authority.Within(caller, organization)
		if err != nil {
			return nil, err
		}
		if !rights.AllowsInOrganization(kind, unikorn.OperationRead, organization) {
			return nil, wire.Denied(kind, unikorn.OperationRead)
		}
		return handle()
	})
}

// answerOf is what region says to what the world said.
func answerOf(err error) error {
	switch {
	case errors.Is(err, world.ErrNotFound), errors.Is(err, machine.ErrNoMachine):
		return wire.Error(http.StatusNotFound, "")
	case errors.Is(err, world.ErrTaken):
		return wire.Error(http.StatusConflict, "")
	case errors.Is(err, world.ErrInUse):
		return wire.Error(http.StatusForbidden, "the resource is in use")
	case errors.Is(err, world.ErrDeleting):
		return wire.Error(http.StatusBadRequest, "the resource is being deleted")
	case errors.Is(err, machine.ErrWrongState):
		return wire.Error(http.StatusBadRequest, "%s", err)
	}
	return err
}
