// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/computetest"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
)

func TestSelectableFields(t *testing.T) {
	scheme := newScheme()
	if err := AddFieldLabelConversion(scheme); err != nil {
		t.Fatal(err)
	}
	_, selectable, err := attributesOf(computetest.Existing())
	if err != nil {
		t.Fatal(err)
	}
	want := fields.Set{
		"metadata.name":      computetest.Name,
		"metadata.namespace": computetest.Namespace,
		"spec.networkID":     string(computetest.Network),
		"spec.flavorID":      string(computetest.Flavor),
		"spec.imageID":       string(computetest.Image),
		"status.regionID":    string(computetest.Region),
	}
	if diff := cmp.Diff(want, selectable); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}

	kind := v1beta1.SchemeGroupVersion.WithKind("Instance")
	hosts := HostSelectors()
	for field := range want {
		if label, _, err := scheme.ConvertFieldLabel(kind, field, "x"); err != nil || label != field {
			t.Errorf("%s: %q, %v", field, label, err)
		}
		delete(hosts, field)
	}
	if len(hosts) > 0 {
		t.Errorf("the host could select by %v, which nobody can ask for", slices.Sorted(maps.Keys(hosts)))
	}
	for _, field := range []string{"status.powerState", "spec.name", "metadata.uid", ""} {
		if _, _, err := scheme.ConvertFieldLabel(kind, field, "x"); err == nil {
			t.Errorf("%q can be selected by", field)
		}
	}
}
