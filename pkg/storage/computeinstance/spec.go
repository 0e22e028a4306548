// SPDX-License-Identifier: Apache-2.0

package computeinstance

import (
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
)

func specOf(stored *v1alpha1.ComputeInstance) compute.InstanceSpec {
	spec := compute.InstanceSpec{
		Name:                      stored.Labels[v1alpha1.LabelName],
		OrganizationID:            ids.OrganizationID(stored.Labels[v1alpha1.LabelOrganization]),
		ProjectID:                 ids.ProjectID(stored.Labels[v1alpha1.LabelProject]),
		NetworkID:                 ids.NetworkID(stored.Labels[v1alpha1.LabelNetwork]),
		FlavorID:                  stored.Spec.FlavorID,
		ImageID:                   stored.Spec.ImageID,
		SSHCertificateAuthorityID: stored.Spec.SSHCertificateAuthorityID,
		UserData:                  stored.Spec.UserData,
		Tags:                      mapped(stored.Spec.Tags, func(tag v1alpha1.Tag) compute.Tag { return compute.Tag(tag) }),
		Paused:                    stored.Spec.Pause,
	}
	if networking := stored.Spec.Networking; networking != nil {
		spec.Networking = compute.InstanceNetworking{
			PublicIP:               networking.PublicIP,
			SecurityGroupIDs:       networking.SecurityGroupIDs,
			AllowedSourceAddresses: mapped(networking.AllowedSourceAddresses, func(p v1alpha1.IPv4Prefix) string { return string(p) }),
		}
	}
	return spec
}

func fillSpec(spec *compute.InstanceSpec, stored *v1alpha1.ComputeInstanceSpec) {
	stored.FlavorID = spec.FlavorID
	stored.ImageID = spec.ImageID
	stored.SSHCertificateAuthorityID = spec.SSHCertificateAuthorityID
	stored.UserData = spec.UserData
	stored.Pause = spec.Paused
	stored.Tags = mapped(spec.Tags, func(tag compute.Tag) v1alpha1.Tag { return v1alpha1.Tag(tag) })
	stored.Networking = networkingOf(&spec.Networking)
}

// networkingOf is absent where nothing is asked for, as the platform's other
// writers leave it.
func networkingOf(networking *compute.InstanceNetworking) *v1alpha1.ComputeInstanceNetworking {
	if !networking.PublicIP && len(networking.SecurityGroupIDs) == 0 && len(networking.AllowedSourceAddresses) == 0 {
		return nil
	}
	return &v1alpha1.ComputeInstanceNetworking{
		PublicIP:               networking.PublicIP,
		SecurityGroupIDs:       networking.SecurityGroupIDs,
		AllowedSourceAddresses: mapped(networking.AllowedSourceAddresses, func(p string) v1alpha1.IPv4Prefix { return v1alpha1.IPv4Prefix(p) }),
	}
}

// mapped converts a list item by item and keeps nil nil.
func mapped[From, To any](from []From, convert func(From) To) []To {
	if from == nil {
		return nil
	}
	to := make([]To, len(from))
	for i, item := range from {
		to[i] = convert(item)
	}
	return to
}
