// SPDX-License-Identifier: Apache-2.0

package regionserver

import (
	"net/http"
	"slices"

	"github.com/google/uuid"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/acl"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// ListRegions answers the regions.
func (s *Server) ListRegions(w http.ResponseWriter, r *http.Request, organization ids.OrganizationID) {
	s.answerWithin(w, r, organization, acl.Regions, func() (any, error) {
		return s.World.Regions(), nil
	})
}

// ListFlavors answers the flavors of a region.
func (s *Server) ListFlavors(w http.ResponseWriter, r *http.Request, organization ids.OrganizationID, id ids.RegionID) {
	s.answerWithin(w, r, organization, acl.Flavors, func() (any, error) {
		if _, err := s.World.Region(id); err != nil {
			return nil, answerOf(err)
		}
		w.Header().Add("Cache-Control", "max-age=86400")
		w.Header().Add("Cache-Control", "private")
		return s.World.Flavors(), nil
	})
}

// ListOrganizationImages answers the ready images an organization may use.
func (s *Server) ListOrganizationImages(w http.ResponseWriter, r *http.Request, organization ids.OrganizationID, id ids.RegionID) {
	s.answerWithin(w, r, organization, acl.Images, func() (any, error) {
		return s.images(id, func(image world.Image) bool {
			return image.Resource.Status.State == region.ImageReady && (image.Owner == "" || image.Owner == organization)
		})
	})
}

// ListImages answers the images of a region. Organizations whose images the
// caller may not read are left out, not refused.
func (s *Server) ListImages(w http.ResponseWriter, r *http.Request, id ids.RegionID, params region.ListImagesParams) {
	s.answer(w, r, http.StatusOK, func(c call) (any, error) {
		allowed := slices.DeleteFunc(slices.Clone(params.OrganizationIDs), func(organization ids.OrganizationID) bool {
			return uuid.Validate(string(organization)) != nil ||
				!c.rights.AllowsInOrganization(acl.Images, unikorn.OperationRead, organization)
		})
		ownedOnly := len(params.OrganizationIDs) > 0 && params.Scope != nil && *params.Scope == region.ImageScopeOwned
		images, err := s.images(id, func(image world.Image) bool {
			if len(params.Status) > 0 && !slices.Contains(params.Status, image.Resource.Status.State) {
				return false
			}
			if image.Owner == "" {
				return !ownedOnly
			}
			return slices.Contains(allowed, image.Owner)
		})
		w.Header().Set("Cache-Control", "no-cache")
		return images, err
	})
}

func (s *Server) images(id ids.RegionID, keep func(world.Image) bool) (any, error) {
	if _, err := s.World.Region(id); err != nil {
		return nil, answerOf(err)
	}
	images := []region.Image{}
	for _, image := range s.World.Lagging().Images(id, keep) {
		images = append(images, image.Resource)
	}
	return images, nil
}
