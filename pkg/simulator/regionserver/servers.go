// SPDX-License-Identifier: Apache-2.0

package regionserver

import (
	"bytes"
	"errors"
	"net/http"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/acl"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/settings"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/wire"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// ListServers answers servers.
func (s *Server) ListServers(w http.ResponseWriter, r *http.Request, params region.ListServersParams) {
	asked := selector{
		organizations: params.OrganizationIDs, projects: params.ProjectIDs,
		regions: params.RegionIDs, networks: params.NetworkIDs, tags: params.Tags,
	}
	list(s, w, r, acl.Servers, asked, func(keep func(placed) bool) []region.Server {
		servers := s.World.Lagging().Servers(func(server world.Server) bool {
			status := server.Resource.Status
			return keep(placed{server.Resource.Metadata, status.RegionID, status.NetworkID})
		})
		shown := make([]region.Server, len(servers))
		for i := range servers {
			shown[i] = servers[i].Read()
		}
		return shown
	})
}

// GetServer answers a server.
func (s *Server) GetServer(w http.ResponseWriter, r *http.Request, id ids.ServerID) {
	s.answer(w, r, http.StatusOK, func(c call) (any, error) {
		server, err := readServer(c, s.World.Lagging(), id)
		return server.Read(), err
	})
}

func readServer(c call, view world.View, id ids.ServerID) (world.Server, error) {
	server, err := view.Server(id)
	return server, c.mayRead(acl.Servers, server.Resource.Metadata, err)
}

// CreateServer makes a server. The operation does not declare a 404 for what a
// server refers to, so the check of region's own answers drops it.
func (s *Server) CreateServer(w http.ResponseWriter, r *http.Request) {
	s.answer(w, r, http.StatusCreated, func(c call) (any, error) {
		server, err := s.createServer(c, r)
		var status *wire.StatusError
		undeclared := errors.As(err, &status) && status.Status == http.StatusNotFound
		if undeclared && s.Settings.Get().EmptyLists == settings.EmptyListsDrop {
			wire.Drop()
		}
		return server, err
	})
}

func (s *Server) createServer(c call, r *http.Request) (region.Server, error) {
	create, err := wire.Decode[region.ServerCreate](r)
	if err != nil {
		return region.Server{}, err
	}
	spec, err := canonicalCreate(create.Spec)
	if err != nil {
		return region.Server{}, err
	}
	network, err := readNetwork(c, s.World.Now(), spec.NetworkID)
	if err != nil {
		return region.Server{}, err
	}
	owner := network.Metadata
	if err := s.Authority.MayCreate(c.rights, acl.Servers, owner.OrganizationID, owner.ProjectID); err != nil {
		return region.Server{}, err
	}
	if spec.SSHInjection, err = resolveInjection(spec); err != nil {
		return region.Server{}, err
	}
	flavor, err := s.checkCreate(c, network, spec)
	if err != nil {
		return region.Server{}, err
	}
	networking, err := normalizeNetworking(spec.Networking)
	if err != nil {
		return region.Server{}, err
	}
	id, err := ids.InstanceObjectName(spec.NetworkID, create.Metadata.Name)
	if err != nil {
		return region.Server{}, err
	}
	metadata := unikorn.ProjectScopedReadMetadata{
		ID: string(id), OrganizationID: owner.OrganizationID, ProjectID: owner.ProjectID,
	}
	describe(&metadata, create.Metadata)
	server, err := s.World.AddServer(region.Server{
		Metadata: metadata,
		Spec:     region.ServerSpec{FlavorID: spec.FlavorID, ImageID: spec.ImageID, Networking: networking, UserData: spec.UserData},
		Status: region.ServerStatus{
			RegionID: network.Status.RegionID, NetworkID: spec.NetworkID,
			SSHCertificateAuthorityID: spec.SSHCertificateAuthorityID, SSHInjection: spec.SSHInjection,
			InfrastructureRef: spec.InfrastructureRef,
		},
	}, flavor, c.actor())
	return server.Read(), answerOf(err)
}

// UpdateServer replaces metadata and spec of a server.
func (s *Server) UpdateServer(w http.ResponseWriter, r *http.Request, id ids.ServerID) {
	s.answer(w, r, http.StatusAccepted, func(c call) (any, error) {
		update, err := wire.Decode[region.ServerUpdate](r)
		if err != nil {
			return nil, err
		}
		spec, err := canonicalSpec(update.Spec)
		if err != nil {
			return nil, err
		}
		server, err := readServer(c, s.World.Now(), id)
		if err != nil {
			return nil, err
		}
		if err := c.may(acl.Servers, unikorn.OperationUpdate, server.Resource.Metadata); err != nil {
			return nil, err
		}
		if err := s.checkUpdate(c, server.Resource, update.Metadata.Name, spec); err != nil {
			return nil, err
		}
		if spec.Networking, err = normalizeNetworking(spec.Networking); err != nil {
			return nil, err
		}
		updated, err := s.World.UpdateServer(id, update.Metadata, spec, c.actor())
		return updated.Read(), answerOf(err)
	})
}

// checkUpdate holds an update against the server as it is.
func (s *Server) checkUpdate(c call, server region.Server, name string, spec region.ServerSpec) error {
	switch {
	case server.Metadata.DeletionTime != nil:
		return answerOf(world.ErrDeleting)
	case name != server.Metadata.Name:
		return wire.Error(http.StatusUnprocessableEntity, "the name of a server cannot be changed")
	case spec.FlavorID != server.Spec.FlavorID:
		return wire.Error(http.StatusUnprocessableEntity, "the flavor of a server cannot be changed")
	}
	if err := s.checkSecurityGroups(c, server.Status.NetworkID, spec.Networking); err != nil {
		return err
	}
	if spec.ImageID != server.Spec.ImageID {
		if err := s.checkNewImage(server, spec); err != nil {
			return err
		}
	}
	if bytes.Equal(spec.UserData, server.Spec.UserData) {
		return nil
	}
	return checkUserData(spec.UserData, server.Status.SSHCertificateAuthorityID)
}

// DeleteServer has a server go. Again while it goes is as good as once.
func (s *Server) DeleteServer(w http.ResponseWriter, r *http.Request, id ids.ServerID) {
	s.answer(w, r, http.StatusAccepted, func(c call) (any, error) {
		server, err := readServer(c, s.World.Now(), id)
		if err != nil {
			return nil, err
		}
		if err := c.may(acl.Servers, unikorn.OperationDelete, server.Resource.Metadata); err != nil {
			return nil, err
		}
		return nil, answerOf(s.World.DeleteServer(id))
	})
}
