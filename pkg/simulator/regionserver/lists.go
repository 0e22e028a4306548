// SPDX-License-Identifier: Apache-2.0

package regionserver

import (
	"net/http"
	"slices"
	"strings"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/acl"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/settings"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/wire"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// selector is what a list is asked for. Values of one member are alternatives,
// members and tags have to match all; an empty member does not filter.
type selector struct {
	organizations []ids.OrganizationID
	projects      []ids.ProjectID
	regions       []ids.RegionID
	networks      []ids.NetworkID
	tags          []string
}

// placed is what a list holds against a selector.
type placed struct {
	metadata unikorn.ProjectScopedReadMetadata
	region   ids.RegionID
	network  ids.NetworkID
}

// filter returns what a list shows of a kind of thing. It reports false when
// caller and question have no organization in common.
func (s selector) filter(c call, kind string) (keep func(placed) bool, overlap bool, err error) {
	if err := s.values(); err != nil {
		return nil, false, err
	}
	scope, overlap := c.rights.Scope(s.organizations)
	if !overlap {
		return nil, false, nil
	}
	tags, err := parseTags(s.tags)
	if err != nil {
		return nil, false, err
	}
	return func(thing placed) bool {
		return scope.Includes(thing.metadata.OrganizationID) &&
			oneOf(s.projects, thing.metadata.ProjectID) &&
			oneOf(s.regions, thing.region) &&
			oneOf(s.networks, thing.network) &&
			hasAll(thing.metadata.Tags, tags) &&
			readable(c.rights, kind, thing.metadata)
	}, true, nil
}

func readable(rights acl.ACL, kind string, metadata unikorn.ProjectScopedReadMetadata) bool {
	return rights.AllowsInProject(kind, unikorn.OperationRead, metadata.OrganizationID, metadata.ProjectID)
}

func (s selector) values() error {
	if err := wire.LabelValues("organizationID", s.organizations); err != nil {
		return err
	}
	if err := wire.LabelValues("projectID", s.projects); err != nil {
		return err
	}
	if err := wire.LabelValues("regionID", s.regions); err != nil {
		return err
	}
	return wire.LabelValues("networkID", s.networks)
}

func oneOf[T comparable](wanted []T, value T) bool {
	return len(wanted) == 0 || slices.Contains(wanted, value)
}

func hasAll(tags, wanted []unikorn.Tag) bool {
	for _, tag := range wanted {
		if !slices.Contains(tags, tag) {
			return false
		}
	}
	return true
}

func parseTags(selectors []string) ([]unikorn.Tag, error) {
	tags := make([]unikorn.Tag, 0, len(selectors))
	for _, selector := range selectors {
		parts := strings.Split(selector, "=")
		if len(parts) != 2 {
			return nil, wire.Error(http.StatusBadRequest, "a tag selector is name=value with exactly one equals sign")
		}
		tags = append(tags, unikorn.Tag{Name: parts[0], Value: parts[1]})
	}
	return tags, nil
}

// list answers what a selector finds. find gets the filter; without an overlap
// it is not called, and the answer is null, or none.
func list[T any](s *Server, w http.ResponseWriter, r *http.Request, kind string, asked selector, find func(keep func(placed) bool) []T) {
	s.answer(w, r, http.StatusOK, func(c call) (any, error) {
		keep, overlap, err := asked.filter(c, kind)
		switch {
		case err != nil:
			return nil, err
		case overlap:
			return append([]T{}, find(keep)...), nil
		case s.Settings.Get().EmptyLists == settings.EmptyListsDrop:
			wire.Drop()
		}
		return []T(nil), nil
	})
}
