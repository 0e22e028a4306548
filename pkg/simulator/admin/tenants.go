// SPDX-License-Identifier: Apache-2.0

package admin

import (
	"fmt"
	"net/http"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/acl"
)

func (a *API) setPerson(r *http.Request) (any, error) {
	roles, err := decode[map[ids.ProjectID]acl.Role](r.Body)
	if err != nil {
		return nil, err
	}
	for _, role := range roles {
		if role != acl.RoleEditor && role != acl.RoleViewer {
			return nil, fmt.Errorf("role is %q, want %s or %s", role, acl.RoleEditor, acl.RoleViewer)
		}
	}
	return nil, a.World.SetRoles(r.PathValue("name"), roles)
}

// project is a project to make.
type project struct {
	OrganizationID ids.OrganizationID `json:"organizationId"`
	Name           string             `json:"name"`
}

func (a *API) makeProject(r *http.Request) (any, error) {
	wanted, err := decode[project](r.Body)
	if err != nil {
		return nil, err
	}
	return nil, a.World.MakeProject(wanted.OrganizationID, ids.ProjectID(r.PathValue("projectID")), wanted.Name)
}

func (a *API) removeProject(r *http.Request) (any, error) {
	return nil, a.World.RemoveProject(ids.ProjectID(r.PathValue("projectID")))
}
