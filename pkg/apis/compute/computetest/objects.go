// SPDX-License-Identifier: Apache-2.0

// Package computetest has the objects that tests of instances begin with: one
// and the same instance as its clients see it and as it is stored.
package computetest

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
)

// What the instance is called and what it refers to.
const (
	Namespace     = "alpha"
	Name          = "web-1"
	Organization  = ids.OrganizationID("0a000000-0000-4000-8000-0000000000a0")
	Project       = ids.ProjectID("0a000000-0000-4000-8000-0000000000a1")
	Region        = ids.RegionID("0c000000-0000-4000-8000-0000000000c0")
	Network       = ids.NetworkID("0d000000-0000-4000-8000-0000000000d1")
	Flavor        = ids.FlavorID("11111111-1111-1111-1111-111111111111")
	Image         = ids.ImageID("33333333-3333-3333-3333-333333333333")
	SecurityGroup = ids.SecurityGroupID("0e000000-0000-4000-8000-0000000000e1")
	Authority     = ids.SSHCertificateAuthorityID("0f000000-0000-4000-8000-0000000000f1")
	Allocation    = ids.AllocationID("a110c000-0000-4000-8000-000000000001")

	// ObjectName is the name that the platform derives from Network and Name.
	ObjectName = ids.InstanceID("fec34c20-b989-5630-b619-2587bf28a979")
)

// What belongs to somebody else, or does not exist.
const (
	OtherOrganization = ids.OrganizationID("0b000000-0000-4000-8000-0000000000b0")
	OtherProject      = ids.ProjectID("0a000000-0000-4000-8000-0000000000a2")
	OtherNetwork      = ids.NetworkID("0d000000-0000-4000-8000-0000000000d2")
)

// Created is when the instance was made.
var Created = metav1.NewTime(time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC))

// Instance is a new instance as a client sends it, with every reference and
// nothing that the server fills in, changed by the edits.
func Instance(edits ...func(*compute.Instance)) *compute.Instance {
	instance := &compute.Instance{
		ObjectMeta: metav1.ObjectMeta{Name: Name, Namespace: Namespace},
		Spec: compute.InstanceSpec{
			NetworkID:                 Network,
			FlavorID:                  Flavor,
			ImageID:                   Image,
			SSHCertificateAuthorityID: Authority,
			Networking: compute.InstanceNetworking{
				SecurityGroupIDs:       []ids.SecurityGroupID{SecurityGroup},
				AllowedSourceAddresses: []string{"10.1.0.0/24"},
			},
			UserData: []byte("#cloud-config\n"),
			Tags:     []compute.Tag{{Name: "env", Value: "prod"}},
		},
	}
	for _, edit := range edits {
		edit(instance)
	}
	return instance
}

// Existing is the instance of Instance as it is read back after it was stored,
// changed by the edits.
func Existing(edits ...func(*compute.Instance)) *compute.Instance {
	return Instance(append([]func(*compute.Instance){func(instance *compute.Instance) {
		instance.UID = "5b8b4f4e-7a32-5a4f-9c5e-000000000001"
		instance.ResourceVersion = "7"
		instance.Generation = 1
		instance.CreationTimestamp = Created
		instance.Labels = labels()
		instance.Annotations = annotations()
		instance.Finalizers = []string{v1alpha1.Finalizer}
		instance.Spec.Name = Name
		instance.Spec.OrganizationID = Organization
		instance.Spec.ProjectID = Project
		instance.Status = compute.InstanceStatus{InstanceID: ObjectName, RegionID: Region, NetworkID: Network}
	}}, edits...)...)
}

// Stored is the ComputeInstance behind Existing, not yet taken up by the
// controller, changed by the edits.
func Stored(edits ...func(*v1alpha1.ComputeInstance)) *v1alpha1.ComputeInstance {
	stored := &v1alpha1.ComputeInstance{
		ObjectMeta: metav1.ObjectMeta{
			Name:              string(ObjectName),
			Namespace:         Namespace,
			UID:               "9d2c7c3e-0000-4000-8000-000000000001",
			ResourceVersion:   "7",
			Generation:        1,
			CreationTimestamp: Created,
			Labels:            labels(),
			Annotations:       annotations(),
			Finalizers:        []string{v1alpha1.Finalizer},
		},
		Spec: v1alpha1.ComputeInstanceSpec{
			FlavorID:                  Flavor,
			ImageID:                   Image,
			SSHCertificateAuthorityID: Authority,
			Networking: &v1alpha1.ComputeInstanceNetworking{
				SecurityGroupIDs:       []ids.SecurityGroupID{SecurityGroup},
				AllowedSourceAddresses: []v1alpha1.IPv4Prefix{"10.1.0.0/24"},
			},
			UserData: []byte("#cloud-config\n"),
			Tags:     []v1alpha1.Tag{{Name: "env", Value: "prod"}},
		},
	}
	for _, edit := range edits {
		edit(stored)
	}
	return stored
}

func labels() map[string]string {
	return map[string]string{
		v1alpha1.LabelName:                  Name,
		v1alpha1.LabelOrganization:          string(Organization),
		v1alpha1.LabelProject:               string(Project),
		v1alpha1.LabelPrincipalOrganization: string(Organization),
		v1alpha1.LabelPrincipalProject:      string(Project),
		v1alpha1.LabelRegion:                string(Region),
		v1alpha1.LabelNetwork:               string(Network),
		v1alpha1.LabelInstanceName:          Name,
	}
}

func annotations() map[string]string {
	return map[string]string{
		v1alpha1.AnnotationCreator:          "oidc:ada@acme.example",
		v1alpha1.AnnotationPrincipalCreator: "ada@acme.example",
		v1alpha1.AnnotationAllocationID:     string(Allocation),
	}
}
