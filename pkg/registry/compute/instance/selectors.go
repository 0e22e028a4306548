// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"fmt"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/storage/crbacked"
)

// The fields that instances can be selected by, beside name and namespace.
const (
	fieldNetwork = "spec.networkID"
	fieldRegion  = "status.regionID"
	fieldFlavor  = "spec.flavorID"
	fieldImage   = "spec.imageID"
)

// HostSelectors says what the host selects by in the place of each field. The
// last two are selectable fields of the custom resource definition.
func HostSelectors() map[string]crbacked.HostSelector {
	return map[string]crbacked.HostSelector{
		fieldNetwork: crbacked.ByLabel(v1alpha1.LabelNetwork),
		fieldRegion:  crbacked.ByLabel(v1alpha1.LabelRegion),
		fieldFlavor:  crbacked.ByField("spec.flavorId"),
		fieldImage:   crbacked.ByField("spec.imageId"),
	}
}

// AddFieldLabelConversion makes requests that select by any other field fail.
func AddFieldLabelConversion(scheme *runtime.Scheme) error {
	return scheme.AddFieldLabelConversionFunc(v1beta1.SchemeGroupVersion.WithKind("Instance"), func(label, value string) (string, string, error) {
		switch label {
		case "metadata.name", "metadata.namespace", fieldNetwork, fieldRegion, fieldFlavor, fieldImage:
			return label, value, nil
		default:
			return "", "", fmt.Errorf("%q is not a field that instances can be selected by; the fields are "+
				"metadata.name, metadata.namespace, %s, %s, %s and %s", label, fieldNetwork, fieldRegion, fieldFlavor, fieldImage)
		}
	})
}

// attributesOf are an instance's labels and selectable fields.
func attributesOf(obj runtime.Object) (labels.Set, fields.Set, error) {
	instance, ok := obj.(*compute.Instance)
	if !ok {
		return nil, nil, fmt.Errorf("%T is not an instance", obj)
	}
	selectable := fields.Set{
		fieldNetwork: string(instance.Spec.NetworkID),
		fieldRegion:  string(instance.Status.RegionID),
		fieldFlavor:  string(instance.Spec.FlavorID),
		fieldImage:   string(instance.Spec.ImageID),
	}
	return instance.Labels, generic.AddObjectMetaFieldsSet(selectable, &instance.ObjectMeta, true), nil
}
