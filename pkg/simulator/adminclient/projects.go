// SPDX-License-Identifier: Apache-2.0

package adminclient

import (
	"context"
	"net/http"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
)

// MakeProject makes a project of an organization.
func (c Client) MakeProject(ctx context.Context, organization ids.OrganizationID, project ids.ProjectID, name string) error {
	_, err := c.send(ctx, http.MethodPut, "/projects/"+string(project), map[string]string{
		"organizationId": string(organization), "name": name,
	})
	return err
}

// RemoveProject removes a project, and the allocations in it.
func (c Client) RemoveProject(ctx context.Context, project ids.ProjectID) error {
	_, err := c.send(ctx, http.MethodDelete, "/projects/"+string(project), nil)
	return err
}
