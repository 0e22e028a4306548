// SPDX-License-Identifier: Apache-2.0

// Package computeinstance says how an Instance is stored as a ComputeInstance.
package computeinstance

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/storage/crbacked"
)

var _ crbacked.Mapper[*compute.Instance, *v1alpha1.ComputeInstance] = Mapper{}

// Mapper maps between an Instance and the ComputeInstance that stores it.
type Mapper struct{}

// NewObject implements crbacked.Mapper.
func (Mapper) NewObject() *compute.Instance { return &compute.Instance{} }

// NewResource implements crbacked.Mapper.
func (Mapper) NewResource() *v1alpha1.ComputeInstance { return &v1alpha1.ComputeInstance{} }

// CRName derives the object name from the network and the name on it, so that
// a second instance of the same name on the same network meets the first one
// in the host cluster: docs/reference/wire.md, "Derived names".
func (Mapper) CRName(instance *compute.Instance) (string, error) {
	name, err := ids.InstanceObjectName(instance.Spec.NetworkID, instance.Spec.Name)
	if err != nil {
		return "", apierrors.NewInvalid(compute.SchemeGroupVersion.WithKind("Instance").GroupKind(), instance.Name,
			field.ErrorList{field.Invalid(field.NewPath("spec", "networkID"), instance.Spec.NetworkID, "must be a UUID")})
	}
	return string(name), nil
}

// ToObject implements crbacked.Mapper.
func (Mapper) ToObject(stored *v1alpha1.ComputeInstance, instance *compute.Instance) *crbacked.Corruption {
	instance.Spec = specOf(stored)
	instance.Status = statusOf(stored)
	return corruptionOf(stored)
}

// ToCR implements crbacked.Mapper.
func (Mapper) ToCR(instance *compute.Instance, stored *v1alpha1.ComputeInstance) error {
	if stored.ResourceVersion == "" {
		label(instance, stored)
	}
	fillSpec(&instance.Spec, &stored.Spec)
	return nil
}

// label sets, once and for all, the labels that say whose a new object is and
// where it belongs.
func label(instance *compute.Instance, stored *v1alpha1.ComputeInstance) {
	if stored.Labels == nil {
		stored.Labels = map[string]string{}
	}
	for key, value := range map[string]string{
		v1alpha1.LabelName:                  instance.Spec.Name,
		v1alpha1.LabelOrganization:          string(instance.Spec.OrganizationID),
		v1alpha1.LabelProject:               string(instance.Spec.ProjectID),
		v1alpha1.LabelPrincipalOrganization: string(instance.Spec.OrganizationID),
		v1alpha1.LabelPrincipalProject:      string(instance.Spec.ProjectID),
		v1alpha1.LabelRegion:                string(instance.Status.RegionID),
		v1alpha1.LabelNetwork:               string(instance.Spec.NetworkID),
	} {
		stored.Labels[key] = value
	}
}

// corruptionOf reports the first id that is not one. Security groups and the
// ids of the status are shown as they are.
func corruptionOf(stored *v1alpha1.ComputeInstance) *crbacked.Corruption {
	for _, id := range []struct {
		field, value string
		optional     bool
	}{
		{field: labelPath(v1alpha1.LabelOrganization), value: stored.Labels[v1alpha1.LabelOrganization]},
		{field: labelPath(v1alpha1.LabelProject), value: stored.Labels[v1alpha1.LabelProject]},
		{field: labelPath(v1alpha1.LabelNetwork), value: stored.Labels[v1alpha1.LabelNetwork]},
		{field: "spec.flavorId", value: string(stored.Spec.FlavorID)},
		{field: "spec.imageId", value: string(stored.Spec.ImageID)},
		{field: "spec.sshCertificateAuthorityId", value: string(stored.Spec.SSHCertificateAuthorityID), optional: true},
	} {
		if id.optional && id.value == "" {
			continue
		}
		if !ids.IsUUID(id.value) {
			return &crbacked.Corruption{Field: id.field, Reason: "is not a UUID"}
		}
	}
	return nil
}

func labelPath(key string) string {
	return field.NewPath("metadata", "labels").Key(key).String()
}
