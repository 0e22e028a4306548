// SPDX-License-Identifier: Apache-2.0

package regionserver

import (
	"errors"
	"net/http"
	"net/netip"

	"github.com/unikorn-cloud/instance-apiserver/pkg/identity"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/acl"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/wire"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// longestPrefix is that of the smallest network there can be.
const longestPrefix = 24

// ListNetworks answers networks.
func (s *Server) ListNetworks(w http.ResponseWriter, r *http.Request, params region.ListNetworksParams) {
	asked := selector{
		organizations: params.OrganizationIDs, projects: params.ProjectIDs,
		regions: params.RegionIDs, tags: params.Tags,
	}
	list(s, w, r, acl.Networks, asked, func(keep func(placed) bool) []region.Network {
		networks := s.World.Lagging().Networks(func(network world.Network) bool {
			return keep(placed{metadata: network.Resource.Metadata, region: network.Resource.Status.RegionID})
		})
		shown := make([]region.Network, len(networks))
		for i := range networks {
			shown[i] = networks[i].Resource
		}
		return shown
	})
}

// GetNetwork answers a network.
func (s *Server) GetNetwork(w http.ResponseWriter, r *http.Request, id ids.NetworkID) {
	s.answer(w, r, http.StatusOK, func(c call) (any, error) {
		return readNetwork(c, s.World.Lagging(), id)
	})
}

func readNetwork(c call, view world.View, id ids.NetworkID) (region.Network, error) {
	network, err := view.Network(id)
	return network.Resource, c.mayRead(acl.Networks, network.Resource.Metadata, err)
}

// CreateNetwork makes a network and charges for it.
func (s *Server) CreateNetwork(w http.ResponseWriter, r *http.Request) {
	s.answer(w, r, http.StatusCreated, func(c call) (any, error) {
		create, err := wire.Decode[region.NetworkCreate](r)
		if err != nil {
			return nil, err
		}
		owner, err := canonicalOwner(create.Spec.OrganizationID, create.Spec.ProjectID)
		if err != nil {
			return nil, err
		}
		place, err := wire.CanonicalID("regionId", create.Spec.RegionID)
		if err != nil {
			return nil, err
		}
		if err := s.Authority.MayCreate(c.rights, acl.Networks, owner.OrganizationID, owner.ProjectID); err != nil {
			return nil, err
		}
		prefix, err := netip.ParsePrefix(create.Spec.Prefix)
		if err != nil || !prefix.Addr().Is4() || prefix.Bits() > longestPrefix {
			return nil, wire.Error(http.StatusBadRequest, "prefix is not an IPv4 prefix of /%d or shorter", longestPrefix)
		}
		if _, err := s.World.Region(place); err != nil {
			return nil, answerOf(err)
		}
		allocation, err := s.chargeNetwork(c)
		if err != nil {
			return nil, err
		}
		describe(&owner, create.Metadata)
		return s.World.AddNetwork(world.Network{Allocation: ids.AllocationID(allocation.Metadata.ID), Resource: region.Network{
			Metadata: owner,
			Spec:     region.NetworkSpec{DNSNameservers: create.Spec.DNSNameservers, Routes: create.Spec.Routes},
			Status: region.NetworkStatus{
				RegionID: place, Prefix: prefix.Masked().String(), Reservations: create.Spec.Reservations,
			},
		}}, c.actor())
	})
}

// chargeNetwork charges the principal's project, by a call of region's own to
// identity that relays what the caller sent. Impersonating people fails: they
// hold no allocations. Half a scope has no project to charge.
func (s *Server) chargeNetwork(c call) (identity.Allocation, error) {
	relayed := c.Caller
	relayed.Service = acl.ServiceRegion
	rights, err := s.Authority.Of(relayed)
	if err != nil {
		return identity.Allocation{}, err
	}
	organization, project := c.Principal.OrganizationID, c.Principal.ProjectID
	if err := s.Authority.MayCreate(rights, acl.Allocations, organization, project); err != nil {
		return identity.Allocation{}, err
	}
	allocation, err := s.World.Allocate(organization, project, identity.AllocationWrite{
		Metadata: unikorn.WriteMetadata{Name: "undefined"},
		Spec: identity.AllocationSpec{
			Kind: "networks.region.unikorn-cloud.org", ID: "network",
			Allocations: []identity.ResourceAllocation{{Kind: "networks", Committed: 1}},
		},
	}, c.actor())
	var quota *world.QuotaError
	switch {
	case errors.As(err, &quota):
		return allocation, wire.Error(http.StatusForbidden, "%s", quota)
	case err != nil:
		return allocation, wire.Error(http.StatusInternalServerError, "")
	}
	return allocation, nil
}

// UpdateNetwork replaces what can be changed of a network.
func (s *Server) UpdateNetwork(w http.ResponseWriter, r *http.Request, id ids.NetworkID) {
	s.answer(w, r, http.StatusAccepted, func(c call) (any, error) {
		update, err := wire.Decode[region.NetworkUpdate](r)
		if err != nil {
			return nil, err
		}
		if err := s.mayChangeNetwork(c, id, unikorn.OperationUpdate); err != nil {
			return nil, err
		}
		network, err := s.World.UpdateNetwork(id, update, c.actor())
		return network, answerOf(err)
	})
}

// DeleteNetwork removes a network that nothing is on.
func (s *Server) DeleteNetwork(w http.ResponseWriter, r *http.Request, id ids.NetworkID) {
	s.answer(w, r, http.StatusAccepted, func(c call) (any, error) {
		if err := s.mayChangeNetwork(c, id, unikorn.OperationDelete); err != nil {
			return nil, err
		}
		return nil, answerOf(s.World.RemoveNetwork(id))
	})
}

func (s *Server) mayChangeNetwork(c call, id ids.NetworkID, operation unikorn.Operation) error {
	network, err := readNetwork(c, s.World.Now(), id)
	if err != nil {
		return err
	}
	return c.may(acl.Networks, operation, network.Metadata)
}
