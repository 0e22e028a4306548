// SPDX-License-Identifier: Apache-2.0

package validation

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
)

// ValidateInstanceSnapshot checks the name of an image. What else there is to
// check is said by markers on the type.
func ValidateInstanceSnapshot(snapshot *compute.InstanceSnapshot) field.ErrorList {
	path := field.NewPath("metadata", "name")
	if snapshot.Name == "" {
		return field.ErrorList{field.Required(path, "the name of the image")}
	}
	if len(snapshot.Name) > 63 {
		return field.ErrorList{field.TooLong(path, "", 63)}
	}
	return validateServerName(snapshot.Name, path)
}

// ValidateAboutInstance checks the metadata of a request that is about an
// instance and not about anything with a name of its own.
func ValidateAboutInstance(metadata *metav1.ObjectMeta, instance string) field.ErrorList {
	if metadata.Name == "" || metadata.Name == instance {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata", "name"), metadata.Name, "must be the name of the instance, or be left out")}
}

// ReservedTag says whether the name of a tag belongs to the platform.
func ReservedTag(name string) bool {
	return reservedTag.MatchString(name)
}
