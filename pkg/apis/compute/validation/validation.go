// SPDX-License-Identifier: Apache-2.0

// Package validation holds the rules of an Instance's form that markers on the
// types cannot say. They need nothing but the object.
package validation

import (
	"net/netip"
	"regexp"

	"github.com/google/uuid"
	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
)

var (
	// serverName is the platform's pattern of resource names:
	// docs/reference/wire.md, "Resource metadata".
	serverName = regexp.MustCompile(`^[0-9A-Za-z](?:[0-9A-Za-z\-_.]{0,61}[0-9A-Za-z])?$`)

	// reservedTag matches the names that the platform keeps for itself, with
	// either separator it uses.
	reservedTag = regexp.MustCompile(`^([a-z0-9\-]+\.)*unikorn-cloud\.org[:/]`)
)

// ValidateInstanceCreate checks the form of a new instance.
func ValidateInstanceCreate(instance *compute.Instance) field.ErrorList {
	errs := validateForm(instance)
	// Objects of other writers are shown under their object name, a UUID: a
	// user's name of that shape could hide one of them.
	if looksLikeUUID(instance.Name) {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), instance.Name,
			"must not have the form of a UUID: such names belong to instances of the platform's other interfaces"))
	}
	return errs
}

// ValidateInstanceUpdate checks the form of a changed instance.
func ValidateInstanceUpdate(instance, old *compute.Instance) field.ErrorList {
	errs := apimachineryvalidation.ValidateObjectMetaUpdate(&instance.ObjectMeta, &old.ObjectMeta, field.NewPath("metadata"))
	return append(errs, validateForm(instance)...)
}

func validateForm(instance *compute.Instance) field.ErrorList {
	errs := apimachineryvalidation.ValidateObjectMeta(&instance.ObjectMeta, true,
		apimachineryvalidation.NameIsDNSLabel, field.NewPath("metadata"))

	spec := field.NewPath("spec")
	if name := instance.Spec.Name; name != "" && len(name) <= 63 && !serverName.MatchString(name) {
		errs = append(errs, field.Invalid(spec.Child("name"), name,
			"must consist of letters, digits, '-', '_' and '.', and start and end with a letter or digit"))
	}
	errs = append(errs, validateSourceAddresses(instance.Spec.Networking.AllowedSourceAddresses,
		spec.Child("networking", "allowedSourceAddresses"))...)
	errs = append(errs, validateTags(instance.Spec.Tags, spec.Child("tags"))...)
	return errs
}

func validateSourceAddresses(prefixes []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, text := range prefixes {
		prefix, err := netip.ParsePrefix(text)
		switch {
		case err != nil || !prefix.Addr().Is4():
			errs = append(errs, field.Invalid(path.Index(i), text, "must be an IPv4 prefix such as 10.1.0.0/24"))
		case prefix.Masked() != prefix:
			errs = append(errs, field.Invalid(path.Index(i), text,
				"must not have bits set beyond the prefix length, did you mean "+prefix.Masked().String()+"?"))
		}
	}
	return errs
}

func validateTags(tags []compute.Tag, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, tag := range tags {
		if reservedTag.MatchString(tag.Name) {
			errs = append(errs, field.Invalid(path.Index(i).Child("name"), tag.Name,
				"names of unikorn-cloud.org and its subdomains are the platform's"))
		}
	}
	return errs
}

func looksLikeUUID(name string) bool {
	_, err := uuid.Parse(name)
	return err == nil
}
