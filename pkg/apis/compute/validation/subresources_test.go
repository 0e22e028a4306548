// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/computetest"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/validation"
)

func TestSnapshotNames(t *testing.T) {
	for name, want := range map[string][]string{
		"web-1.2026_03_01":      nil,
		"X":                     nil,
		strings.Repeat("x", 63): nil,
		"":                      {"FieldValueRequired metadata.name"},
		strings.Repeat("x", 64): {"FieldValueTooLong metadata.name"},
		"-x":                    {"FieldValueInvalid metadata.name"},
		"x.":                    {"FieldValueInvalid metadata.name"},
		"über":                  {"FieldValueInvalid metadata.name"},
		"a b":                   {"FieldValueInvalid metadata.name"},
		strings.Repeat("ü", 40): {"FieldValueTooLong metadata.name"},
	} {
		snapshot := &compute.InstanceSnapshot{ObjectMeta: metav1.ObjectMeta{Name: name}}
		t.Run(name, func(t *testing.T) {
			computetest.ExpectCauses(t, validation.ValidateInstanceSnapshot(snapshot), want...)
		})
	}
}

func TestMetadataAboutAnInstance(t *testing.T) {
	for name, want := range map[string][]string{
		"":      nil,
		"web-1": nil,
		"web-2": {"FieldValueInvalid metadata.name"},
	} {
		computetest.ExpectCauses(t, validation.ValidateAboutInstance(&metav1.ObjectMeta{Name: name}, "web-1"), want...)
	}
}

func TestReservedTags(t *testing.T) {
	for name, want := range map[string]bool{
		"compute.unikorn-cloud.org:instance-id":         true,
		"compute.unikorn-cloud.org/instance-id":         true,
		"images.unikorn-cloud.org:organization-id":      true,
		"unikorn-cloud.org/name":                        true,
		"unikorn-cloud.org:name":                        true,
		"a.b-c.unikorn-cloud.org:x":                     true,
		"env":                                           false,
		"unikorn-cloud.org":                             false,
		"notunikorn-cloud.org:x":                        false,
		"compute.unikorn-cloud.org.example:instance-id": false,
		"x:compute.unikorn-cloud.org:instance-id":       false,
	} {
		if got := validation.ReservedTag(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
