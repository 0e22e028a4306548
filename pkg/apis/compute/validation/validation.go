// SPDX-License-Identifier: Apache-2.0

// Package validation holds the rules of an Instance's form that markers on the
// types cannot say. They need nothing but the object.
package validation

import (
	"net/netip"
	"regexp"
	"slices"
	"unicode/utf8"

	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
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
	errs := apimachineryvalidation.ValidateObjectMeta(&instance.ObjectMeta, true,
		apimachineryvalidation.NameIsDNSLabel, field.NewPath("metadata"))
	errs = append(errs, validateForm(&instance.Spec, &compute.InstanceSpec{})...)
	// Objects of other writers are shown under their object name, a UUID: a
	// user's name of that shape could hide one of them.
	if ids.IsUUID(instance.Name) {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), instance.Name,
			"must not have the form of a UUID: such names belong to instances of the platform's other interfaces"))
	}
	return errs
}

// ValidateInstanceUpdate checks the form of what has changed of an instance. Its
// metadata is checked by the registry, which would say everything twice.
func ValidateInstanceUpdate(instance, old *compute.Instance) field.ErrorList {
	return validateForm(&instance.Spec, &old.Spec)
}

// validateForm leaves out what was there before: other writers know other
// rules, and what they stored must not keep anybody from changing the rest.
func validateForm(spec, before *compute.InstanceSpec) field.ErrorList {
	path := field.NewPath("spec")
	var errs field.ErrorList
	if before.Name == "" {
		errs = append(errs, validateServerName(spec.Name, path.Child("name"))...)
	}
	errs = append(errs, validateSourceAddresses(spec.Networking.AllowedSourceAddresses,
		before.Networking.AllowedSourceAddresses, path.Child("networking", "allowedSourceAddresses"))...)
	return append(errs, validateTags(spec.Tags, before.Tags, path.Child("tags"))...)
}

// validateServerName leaves the length to the marker on the type.
func validateServerName(name string, path *field.Path) field.ErrorList {
	if name == "" || utf8.RuneCountInString(name) > 63 || serverName.MatchString(name) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, name,
		"must consist of letters, digits, '-', '_' and '.', and start and end with a letter or digit")}
}

func validateSourceAddresses(prefixes, before []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, text := range prefixes {
		prefix, err := netip.ParsePrefix(text)
		switch {
		case slices.Contains(before, text):
		case err != nil || !prefix.Addr().Is4():
			errs = append(errs, field.Invalid(path.Index(i), text, "must be an IPv4 prefix such as 10.1.0.0/24"))
		case prefix.Masked() != prefix:
			errs = append(errs, field.Invalid(path.Index(i), text,
				"must not have bits set beyond the prefix length, did you mean "+prefix.Masked().String()+"?"))
		}
	}
	return errs
}

func validateTags(tags, before []compute.Tag, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, tag := range tags {
		if reservedTag.MatchString(tag.Name) && !slices.Contains(before, tag) {
			errs = append(errs, field.Invalid(path.Index(i).Child("name"), tag.Name,
				"names of unikorn-cloud.org and its subdomains are the platform's"))
		}
	}
	return errs
}
