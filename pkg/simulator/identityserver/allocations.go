// SPDX-License-Identifier: Apache-2.0

package identityserver

import (
	"cmp"
	"errors"
	"net/http"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/unikorn-cloud/instance-apiserver/pkg/identity"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/acl"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/wire"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// CreateAllocation charges an organization.
func (s *Server) CreateAllocation(w http.ResponseWriter, r *http.Request, organization ids.OrganizationID, project ids.ProjectID) {
	wire.Answer(w, r, http.StatusCreated, func(caller wire.Caller) (any, error) {
		write, err := wire.Decode[identity.AllocationWrite](r)
		if err != nil {
			return nil, err
		}
		rights, err := s.Authority.Within(caller, organization)
		if err != nil {
			return nil, err
		}
		if err := s.Authority.MayCreate(rights, acl.Allocations, organization, project); err != nil {
			return nil, err
		}
		if err := referable(write.Spec); err != nil {
			return nil, err
		}
		allocation, err := s.World.Allocate(organization, project, write, actor(caller))
		if errors.Is(err, world.ErrNotFound) {
			return nil, noNamespace()
		}
		return allocation, answerOf(err)
	})
}

// GetAllocation answers an allocation, as it was a moment ago.
func (s *Server) GetAllocation(w http.ResponseWriter, r *http.Request, organization ids.OrganizationID, project ids.ProjectID, id ids.AllocationID) {
	wire.Answer(w, r, http.StatusOK, func(caller wire.Caller) (any, error) {
		if err := s.mayAllocate(caller, unikorn.OperationRead, organization, project); err != nil {
			return nil, err
		}
		allocation, err := s.World.Lagging().Allocation(project, id)
		return allocation, answerOf(err)
	})
}

// UpdateAllocation replaces what an allocation charges.
func (s *Server) UpdateAllocation(w http.ResponseWriter, r *http.Request, organization ids.OrganizationID, project ids.ProjectID, id ids.AllocationID) {
	wire.Answer(w, r, http.StatusOK, func(caller wire.Caller) (any, error) {
		write, err := wire.Decode[identity.AllocationWrite](r)
		if err != nil {
			return nil, err
		}
		if err := s.mayAllocate(caller, unikorn.OperationUpdate, organization, project); err != nil {
			return nil, err
		}
		if err := referable(write.Spec); err != nil {
			return nil, err
		}
		allocation, err := s.World.Reallocate(project, id, write, actor(caller))
		return allocation, answerOf(err)
	})
}

// DeleteAllocation gives back what an allocation charges.
func (s *Server) DeleteAllocation(w http.ResponseWriter, r *http.Request, organization ids.OrganizationID, project ids.ProjectID, id ids.AllocationID) {
	wire.Answer(w, r, http.StatusAccepted, func(caller wire.Caller) (any, error) {
		if err := s.mayAllocate(caller, unikorn.OperationDelete, organization, project); err != nil {
			return nil, err
		}
		return nil, answerOf(s.World.Release(project, id))
	})
}

// mayAllocate tells whether a caller may do something to the allocations of a
// project. The project is looked up by its namespace, and one that is missing
// is a 500.
func (s *Server) mayAllocate(caller wire.Caller, operation unikorn.Operation, organization ids.OrganizationID, project ids.ProjectID) error {
	rights, err := s.Authority.Within(caller, organization)
	if err != nil {
		return err
	}
	if !rights.AllowsInProject(acl.Allocations, operation, organization, project) {
		return wire.Denied(acl.Allocations, operation)
	}
	if _, err := s.World.Project(organization, project); err != nil {
		return noNamespace()
	}
	return nil
}

func noNamespace() error {
	return wire.Error(http.StatusInternalServerError, "")
}

// referable tells whether an allocation can be labelled with what it is for.
func referable(spec identity.AllocationSpec) error {
	if len(validation.IsValidLabelValue(spec.Kind)) > 0 || len(validation.IsValidLabelValue(spec.ID)) > 0 {
		return wire.Error(http.StatusInternalServerError, "")
	}
	return nil
}

// actor is who an allocation is attributed to.
func actor(caller wire.Caller) string {
	return cmp.Or(caller.Principal.Actor, caller.Service)
}

func answerOf(err error) error {
	var quota *world.QuotaError
	switch {
	case errors.As(err, &quota):
		return wire.Error(http.StatusForbidden, "%s", quota)
	case errors.Is(err, world.ErrNotFound):
		return wire.Error(http.StatusNotFound, "")
	}
	return err
}
