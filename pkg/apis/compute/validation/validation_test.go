// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/computetest"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/validation"
)

func created(edit func(*compute.Instance)) field.ErrorList {
	return validation.ValidateInstanceCreate(computetest.Instance(edit))
}

func TestInstanceIsValid(t *testing.T) {
	computetest.ExpectCauses(t, validation.ValidateInstanceCreate(computetest.Instance()))
	computetest.ExpectCauses(t, validation.ValidateInstanceUpdate(computetest.Existing(), computetest.Existing()))
}

func TestSourceAddresses(t *testing.T) {
	tests := map[string]struct {
		prefix string
		says   string
	}{
		"network":                 {prefix: "10.1.0.0/24"},
		"one address":             {prefix: "10.1.0.7/32"},
		"everything":              {prefix: "0.0.0.0/0"},
		"host bits":               {prefix: "10.1.0.7/24", says: "did you mean 10.1.0.0/24?"},
		"IPv6":                    {prefix: "fd00::/8", says: "must be an IPv4 prefix"},
		"IPv4 dressed up as IPv6": {prefix: "::ffff:10.1.0.0/120", says: "must be an IPv4 prefix"},
		"no length":               {prefix: "10.1.0.0", says: "must be an IPv4 prefix"},
		"length out of range":     {prefix: "10.1.0.0/33", says: "must be an IPv4 prefix"},
		"leading zero":            {prefix: "10.01.0.0/24", says: "must be an IPv4 prefix"},
		"garbage":                 {prefix: "office", says: "must be an IPv4 prefix"},
		"empty":                   {prefix: "", says: "must be an IPv4 prefix"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			errs := created(func(instance *compute.Instance) {
				instance.Spec.Networking.AllowedSourceAddresses = []string{"192.168.0.0/16", test.prefix}
			})
			if test.says == "" {
				computetest.ExpectCauses(t, errs)
				return
			}
			computetest.ExpectCauses(t, errs, "FieldValueInvalid spec.networking.allowedSourceAddresses[1]")
			if message := errs.ToAggregate().Error(); !strings.Contains(message, test.says) {
				t.Errorf("message %q does not say %q", message, test.says)
			}
		})
	}
}

func TestTagNames(t *testing.T) {
	tests := map[string]bool{
		"env":                                    true,
		"example.com/env":                        true,
		"unikorn-cloud.org":                      true,
		"unikorn-cloud.organic/env":              true,
		"myunikorn-cloud.org/env":                true,
		"unikorn-cloud.org/env":                  false,
		"unikorn-cloud.org:env":                  false,
		"compute.unikorn-cloud.org/instance-id":  false,
		"images.unikorn-cloud.org:source":        false,
		"a.b.unikorn-cloud.org/deep":             false,
		"compute.unikorn-cloud.org:instance-id:": false,
	}
	for name, allowed := range tests {
		t.Run(name, func(t *testing.T) {
			errs := created(func(instance *compute.Instance) {
				instance.Spec.Tags = []compute.Tag{{Name: "first"}, {Name: name}}
			})
			if allowed {
				computetest.ExpectCauses(t, errs)
				return
			}
			computetest.ExpectCauses(t, errs, "FieldValueInvalid spec.tags[1].name")
		})
	}
}

func TestServerName(t *testing.T) {
	tests := map[string]bool{
		"":                       true, // the strategy fills it in
		"a":                      true,
		"Web_1.example":          true,
		"9lives":                 true,
		strings.Repeat("a", 63):  true,
		"-web":                   false,
		"web-":                   false,
		"web 1":                  false,
		"web/1":                  false,
		"wéb":                    false,
		strings.Repeat("é", 40):  false, // more than 63 bytes, fewer than 63 characters
		"web\n":                  false,
		strings.Repeat("a.", 31): false,
	}
	for name, allowed := range tests {
		t.Run(name, func(t *testing.T) {
			errs := created(func(instance *compute.Instance) { instance.Spec.Name = name })
			if allowed {
				computetest.ExpectCauses(t, errs)
				return
			}
			computetest.ExpectCauses(t, errs, "FieldValueInvalid spec.name")
		})
	}
}

func TestObjectNameOnCreate(t *testing.T) {
	tests := map[string]bool{
		"web-1":                                true,
		strings.Repeat("a", 63):                true,
		strings.Repeat("a", 64):                false,
		"Web":                                  false,
		"web.example":                          false,
		"web_1":                                false,
		"fec34c20-b989-5630-b619-2587bf28a979": false,
		"0d000000-0000-4000-8000-0000000000d1": false,
		"fec34c20b9895630b6192587bf28a979":     true, // no object name of the platform looks like that
	}
	for name, allowed := range tests {
		t.Run(name, func(t *testing.T) {
			errs := created(func(instance *compute.Instance) { instance.Name = name })
			if allowed {
				computetest.ExpectCauses(t, errs)
				return
			}
			computetest.ExpectCauses(t, errs, "FieldValueInvalid metadata.name")
		})
	}
}

// An instance of another writer has its object name and whatever that writer
// allows; it can be changed all the same.
func TestUpdateLeavesAloneWhatWasThere(t *testing.T) {
	foreign := func(edits ...func(*compute.Instance)) *compute.Instance {
		return computetest.Existing(append([]func(*compute.Instance){func(instance *compute.Instance) {
			instance.Name = string(computetest.ObjectName)
			instance.Spec.Name = "named elsewhere"
			instance.Spec.Networking.AllowedSourceAddresses = []string{"10.1.0.7/24"}
			instance.Spec.Tags = []compute.Tag{{Name: "compute.unikorn-cloud.org/x", Value: "1"}}
		}}, edits...)...)
	}
	tests := map[string]struct {
		change func(*compute.Instance)
		want   []string
	}{
		"metadata": {change: func(instance *compute.Instance) { instance.Annotations["note"] = "hello" }},
		"more prefixes and tags": {change: func(instance *compute.Instance) {
			addresses := &instance.Spec.Networking.AllowedSourceAddresses
			*addresses = slices.Insert(*addresses, 0, "10.2.0.0/24")
			instance.Spec.Tags = append(instance.Spec.Tags, compute.Tag{Name: "env"})
		}},
		"a bad prefix": {
			change: func(instance *compute.Instance) {
				instance.Spec.Networking.AllowedSourceAddresses = []string{"10.1.0.7/24", "10.1.0.9/24"}
			},
			want: []string{"FieldValueInvalid spec.networking.allowedSourceAddresses[1]"},
		},
		"another value of a reserved tag": {
			change: func(instance *compute.Instance) { instance.Spec.Tags[0].Value = "2" },
			want:   []string{"FieldValueInvalid spec.tags[0].name"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			computetest.ExpectCauses(t, validation.ValidateInstanceUpdate(foreign(test.change), foreign()), test.want...)
		})
	}
}

func TestAllFaultsAtOnce(t *testing.T) {
	errs := created(func(instance *compute.Instance) {
		instance.Name = "Web"
		instance.Spec.Name = "-"
		instance.Spec.Networking.AllowedSourceAddresses = []string{"x", "y"}
		instance.Spec.Tags = []compute.Tag{{Name: "unikorn-cloud.org/x"}}
	})
	computetest.ExpectCauses(t, errs,
		"FieldValueInvalid metadata.name",
		"FieldValueInvalid spec.name",
		"FieldValueInvalid spec.networking.allowedSourceAddresses[0]",
		"FieldValueInvalid spec.networking.allowedSourceAddresses[1]",
		"FieldValueInvalid spec.tags[0].name",
	)
}
