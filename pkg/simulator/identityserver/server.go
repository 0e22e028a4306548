// SPDX-License-Identifier: Apache-2.0

// Package identityserver is the simulated identity service, as far as
// instances use it. The facts are in docs/reference/wire.md.
package identityserver

import (
	"net/http"

	"github.com/unikorn-cloud/instance-apiserver/pkg/identity"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/access"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/acl"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/identityapi"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/wire"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// Server implements the operations of identity.
type Server struct {
	World     *world.World
	Authority *access.Authority
}

var _ identityapi.ServerInterface = &Server{}

// Handler returns the service. It fails when an operation is not described.
func Handler(server *Server) (http.Handler, error) {
	description, err := wire.LoadDescription(identity.Description)
	if err != nil {
		return nil, err
	}
	router := wire.NewRouter(description)
	identityapi.HandlerWithOptions(server, identityapi.StdHTTPServerOptions{
		BaseRouter: router, ErrorHandlerFunc: wire.WriteBindError,
	})
	return router, router.Err()
}

// GetACL answers what the caller may do.
func (s *Server) GetACL(w http.ResponseWriter, r *http.Request) {
	wire.Answer(w, r, http.StatusOK, func(caller wire.Caller) (any, error) {
		rights, err := s.Authority.Of(caller)
		if err != nil {
			return nil, err
		}
		return shownACL(rights), nil
	})
}

// GetOrganizationACL answers what the caller may do in one organization.
func (s *Server) GetOrganizationACL(w http.ResponseWriter, r *http.Request, organization ids.OrganizationID) {
	wire.Answer(w, r, http.StatusOK, func(caller wire.Caller) (any, error) {
		rights, err := s.Authority.Within(caller, organization)
		if err != nil {
			return nil, err
		}
		shown := shownACL(rights)
		if len(shown.Organizations) > 0 {
			own := shown.Organizations[0]
			shown.Organization = &identity.ACLOrganization{ID: own.ID, Endpoints: own.Endpoints}
			shown.Projects = own.Projects
		}
		return shown, nil
	})
}

// ListOrganizations knows people only, by their token, and services call with
// certificates.
func (*Server) ListOrganizations(w http.ResponseWriter, r *http.Request, _ identity.ListOrganizationsParams) {
	wire.Answer(w, r, http.StatusOK, func(wire.Caller) (any, error) {
		return nil, wire.Error(http.StatusNotFound, "")
	})
}

// GetOrganization answers an organization.
func (s *Server) GetOrganization(w http.ResponseWriter, r *http.Request, id ids.OrganizationID) {
	wire.Answer(w, r, http.StatusOK, func(caller wire.Caller) (any, error) {
		if err := s.may(caller, acl.Organizations, id); err != nil {
			return nil, err
		}
		organization, err := s.World.Organization(id)
		if err != nil {
			return nil, wire.Error(http.StatusNotFound, "")
		}
		return organization, nil
	})
}

// GetQuotas answers the limits of an organization.
func (s *Server) GetQuotas(w http.ResponseWriter, r *http.Request, id ids.OrganizationID) {
	wire.Answer(w, r, http.StatusOK, func(caller wire.Caller) (any, error) {
		if err := s.may(caller, acl.Quotas, id); err != nil {
			return nil, err
		}
		quotas, err := s.World.Quotas(id)
		if err != nil {
			return nil, err
		}
		return identity.Quotas{Quotas: quotas}, nil
	})
}

// ListProjects answers the projects of an organization that the caller may
// read.
func (s *Server) ListProjects(w http.ResponseWriter, r *http.Request, id ids.OrganizationID) {
	wire.Answer(w, r, http.StatusOK, func(caller wire.Caller) (any, error) {
		rights, err := s.Authority.Within(caller, id)
		if err != nil {
			return nil, err
		}
		readable := []identity.Project{}
		for _, project := range s.World.Projects(id) {
			if rights.AllowsInProject(acl.Projects, unikorn.OperationRead, id, ids.ProjectID(project.Metadata.ID)) {
				readable = append(readable, project)
			}
		}
		return readable, nil
	})
}

// GetProject answers a project.
func (s *Server) GetProject(w http.ResponseWriter, r *http.Request, organization ids.OrganizationID, id ids.ProjectID) {
	wire.Answer(w, r, http.StatusOK, func(caller wire.Caller) (any, error) {
		rights, err := s.Authority.Within(caller, organization)
		if err != nil {
			return nil, err
		}
		project, err := s.World.Project(organization, id)
		if err != nil {
			return nil, wire.Error(http.StatusNotFound, "")
		}
		if !rights.AllowsInProject(acl.Projects, unikorn.OperationRead, organization, id) {
			return nil, wire.Denied(acl.Projects, unikorn.OperationRead)
		}
		return project, nil
	})
}

// may tells whether a caller may read something of an organization.
func (s *Server) may(caller wire.Caller, kind string, organization ids.OrganizationID) error {
	rights, err := s.Authority.Within(caller, organization)
	if err != nil {
		return err
	}
	if !rights.AllowsInOrganization(kind, unikorn.OperationRead, organization) {
		return wire.Denied(kind, unikorn.OperationRead)
	}
	return nil
}
