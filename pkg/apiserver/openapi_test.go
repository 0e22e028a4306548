// SPDX-License-Identifier: Apache-2.0

package apiserver_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apiserver"
)

// modelPrefix is what the models of v1beta1 are called in OpenAPI.
const modelPrefix = "org.unikorn-cloud.compute.v1beta1."

func models(t *testing.T) map[string]spec.Schema {
	t.Helper()
	found := map[string]spec.Schema{}
	definitions := apiserver.OpenAPIDefinitions(spec.MustCreateRef)
	for name, definition := range definitions {
		if model, ours := strings.CutPrefix(name, modelPrefix); ours {
			found[model] = definition.Schema
		}
	}
	if len(found) == 0 {
		t.Fatalf("no definition starts with %s", modelPrefix)
	}
	return found
}

func TestEveryPropertyIsDescribed(t *testing.T) {
	for model, schema := range models(t) {
		if schema.Description == "" {
			t.Errorf("%s has no description", model)
		}
		for name, property := range schema.Properties {
			if property.Description == "" {
				t.Errorf("%s.%s has no description", model, name)
			}
		}
	}
}

func TestIDsInSpecAreUUIDs(t *testing.T) {
	all := models(t)
	formats := map[string]string{}
	for name, property := range all["InstanceSpec"].Properties {
		if strings.HasSuffix(name, "ID") {
			formats[name] = property.Format
		}
	}
	formats["securityGroupIDs[]"] = all["InstanceNetworking"].Properties["securityGroupIDs"].Items.Schema.Format
	want := map[string]string{
		"organizationID":            "uuid",
		"projectID":                 "uuid",
		"networkID":                 "uuid",
		"flavorID":                  "uuid",
		"imageID":                   "uuid",
		"sshCertificateAuthorityID": "uuid",
		"securityGroupIDs[]":        "uuid",
	}
	if diff := cmp.Diff(want, formats); diff != "" {
		t.Errorf("formats (-want +got):\n%s", diff)
	}
}

func TestPowerStatesAreEnumerated(t *testing.T) {
	want := []any{"Building", "Error", "Pending", "Queued", "Rebuilding", "Running", "Stopped", "Stopping"}
	if diff := cmp.Diff(want, models(t)["InstanceStatus"].Properties["powerState"].Enum); diff != "" {
		t.Errorf("enum (-want +got):\n%s", diff)
	}
}

func TestSwitchesDefaultToFalse(t *testing.T) {
	all := models(t)
	for path, property := range map[string]spec.Schema{
		"paused":              all["InstanceSpec"].Properties["paused"],
		"networking.publicIP": all["InstanceNetworking"].Properties["publicIP"],
	} {
		if property.Default != any(false) {
			t.Errorf("%s defaults to %v, want false", path, property.Default)
		}
	}
}

func TestRequiredProperties(t *testing.T) {
	all := models(t)
	got := map[string][]string{}
	for model, schema := range all {
		if len(schema.Required) > 0 {
			got[model] = schema.Required
		}
	}
	want := map[string][]string{
		"Instance":          {"spec"},
		"InstanceList":      {"items"},
		"InstancePowerSpec": {"action"},
		"InstanceSpec":      {"networkID", "flavorID", "imageID"},
		"Tag":               {"name"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("required (-want +got):\n%s", diff)
	}
}
