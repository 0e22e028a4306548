// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"context"

	"github.com/unikorn-cloud/instance-apiserver/pkg/identity"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// Releaser is what giving an allocation back needs of the identity service.
type Releaser interface {
	DeleteAllocation(ctx context.Context, credential principal.Credential, organization ids.OrganizationID, project ids.ProjectID, id ids.AllocationID) error
	// Project tells whether a project still exists.
	Project(ctx context.Context, credential principal.Credential, organization ids.OrganizationID, project ids.ProjectID) (*identity.Project, error)
}

// Release gives an allocation of the owner's project back. One that is gone,
// alone or with its project, is given back.
func Release(ctx context.Context, identity Releaser, credential principal.Credential, owner principal.Principal, id ids.AllocationID) error {
	err := identity.DeleteAllocation(ctx, credential, owner.OrganizationID, owner.ProjectID, id)
	if err == nil || unikorn.IsNotFound(err) {
		return nil
	}
	if !unikorn.IsServerError(err) {
		return err
	}
	// Identity answers so for a project that does not exist, and for its own
	// failures: docs/reference/wire.md, "Allocations".
	_, projectErr := identity.Project(ctx, credential, owner.OrganizationID, owner.ProjectID)
	if unikorn.IsNotFound(projectErr) {
		return nil
	}
	return err
}
