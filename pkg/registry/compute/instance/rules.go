// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/tenancy"
)

// lookup is the answer to one question to region: asked and found, asked and
// not visible to the caller, or not asked.
type lookup[T any] struct {
	asked bool
	found *T
}

// facts are what region says of an instance's references.
type facts struct {
	region         ids.RegionID
	network        lookup[region.Network]
	flavor         lookup[region.Flavor]
	image          lookup[region.Image]
	authority      lookup[region.SSHCertificateAuthority]
	securityGroups map[ids.SecurityGroupID]lookup[region.SecurityGroup]
}

// validate checks the references of the spec against the facts, all at once.
// What is missing, what the caller may not see and what belongs to somebody
// else gets one and the same answer, because the difference would tell that
// somebody else's thing exists.
func (f *facts) validate(spec *compute.InstanceSpec, scope tenancy.Scope) field.ErrorList {
	path := field.NewPath("spec")
	errs := validateOwner(spec, scope, path)
	if f.network.asked && !owned(f.network.found, networkOwner, scope) {
		errs = append(errs, field.NotFound(path.Child("networkID"), spec.NetworkID))
	}
	errs = append(errs, f.validateFlavor(spec, path.Child("flavorID"))...)
	errs = append(errs, f.validateImage(spec, path.Child("imageID"))...)
	if f.authority.asked && !owned(f.authority.found, authorityOwner, scope) {
		errs = append(errs, field.NotFound(path.Child("sshCertificateAuthorityID"), spec.SSHCertificateAuthorityID))
	}
	return append(errs, f.validateSecurityGroups(spec, scope, path.Child("networking", "securityGroupIDs"))...)
}

func validateOwner(spec *compute.InstanceSpec, scope tenancy.Scope, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if spec.OrganizationID != scope.Organization {
		errs = append(errs, field.Invalid(path.Child("organizationID"), spec.OrganizationID, "must be the namespace's organization"))
	}
	if spec.ProjectID != scope.Project {
		errs = append(errs, field.Invalid(path.Child("projectID"), spec.ProjectID, "must be the namespace's project"))
	}
	return errs
}

func (f *facts) validateFlavor(spec *compute.InstanceSpec, path *field.Path) field.ErrorList {
	switch {
	case !f.flavor.asked:
		return nil
	case f.flavor.found == nil:
		return field.ErrorList{field.NotFound(path, spec.FlavorID)}
	case f.flavor.found.Spec.PinnedOnly:
		return field.ErrorList{field.Invalid(path, spec.FlavorID, "is only for machines pinned to a host, which instances cannot be")}
	default:
		return nil
	}
}

func (f *facts) validateImage(spec *compute.InstanceSpec, path *field.Path) field.ErrorList {
	switch {
	case !f.image.asked:
		return nil
	case f.image.found == nil:
		return field.ErrorList{field.NotFound(path, spec.ImageID)}
	case f.flavor.found == nil:
		return nil
	default:
		return validateFit(&f.image.found.Spec, &f.flavor.found.Spec, spec.ImageID, path)
	}
}

// validateFit checks that the image can run on the flavor:
// docs/reference/wire.md, "Images".
func validateFit(image *region.ImageSpec, flavor *region.FlavorSpec, id ids.ImageID, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if image.Architecture != flavor.Architecture {
		errs = append(errs, field.Invalid(path, id, fmt.Sprintf("is for architecture %s, the flavor has %s", image.Architecture, flavor.Architecture)))
	}
	if image.SizeGiB > flavor.Disk {
		errs = append(errs, field.Invalid(path, id, fmt.Sprintf("needs a disk of %d GiB, the flavor has one of %d GB", image.SizeGiB, flavor.Disk)))
	}
	switch {
	case image.Virtualization == region.ImageBaremetal && !flavor.Baremetal:
		errs = append(errs, field.Invalid(path, id, "is for bare metal, the flavor is virtualized"))
	case image.Virtualization == region.ImageVirtualized && flavor.Baremetal:
		errs = append(errs, field.Invalid(path, id, "is for virtual machines, the flavor is bare metal"))
	}
	return errs
}

func (f *facts) validateSecurityGroups(spec *compute.InstanceSpec, scope tenancy.Scope, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, id := range spec.Networking.SecurityGroupIDs {
		group, ok := f.securityGroups[id]
		if !ok || !group.asked {
			continue
		}
		// A network is of one project, so the same network is the same project.
		// Both are checked all the same: the network itself may be refused.
		if !owned(group.found, securityGroupOwner, scope) || group.found.Status.NetworkID != spec.NetworkID {
			errs = append(errs, field.NotFound(path.Index(i), id))
		}
	}
	return errs
}

func owned[T any](thing *T, owner func(*T) tenancy.Scope, scope tenancy.Scope) bool {
	return thing != nil && owner(thing) == scope
}

func networkOwner(n *region.Network) tenancy.Scope {
	return tenancy.Scope{Organization: n.Metadata.OrganizationID, Project: n.Metadata.ProjectID}
}

func securityGroupOwner(g *region.SecurityGroup) tenancy.Scope {
	return tenancy.Scope{Organization: g.Metadata.OrganizationID, Project: g.Metadata.ProjectID}
}

func authorityOwner(a *region.SSHCertificateAuthority) tenancy.Scope {
	return tenancy.Scope{Organization: a.Metadata.OrganizationID, Project: a.Metadata.ProjectID}
}
