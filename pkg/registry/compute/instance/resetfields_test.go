// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
)

func TestApplyDoesNotOwnServerFields(t *testing.T) {
	path, text := fieldpath.MakePathOrDie, value.NewValueInterface
	users := []fieldpath.Path{
		path("metadata", "labels"),
		path("metadata", "labels", "app"),
		path("metadata", "annotations", v1alpha1.AnnotationDescription),
		path("metadata", "finalizers"),
		path("metadata", "finalizers", text("example.com/mine")),
		path("spec"),
		path("spec", "flavorID"),
		path("spec", "networking", "publicIP"),
		path("spec", "tags", fieldpath.KeyByFields("name", "unikorn-cloud.org/x"), "value"),
		path("spec", "labels", "unikorn-cloud.org/x"),
	}
	servers := []fieldpath.Path{
		path("metadata", "labels", v1alpha1.LabelOrganization),
		path("metadata", "labels", v1alpha1.LabelNetwork),
		path("metadata", "annotations", v1alpha1.AnnotationAllocationID),
		path("metadata", "finalizers", text(v1alpha1.Finalizer)),
		path("status"),
		path("status", "powerState"),
		path("status", "conditions", fieldpath.KeyByFields("type", "Ready"), "reason"),
	}
	filter := (&REST{}).GetResetFieldsFilter()[fieldpath.APIVersion(v1beta1.SchemeGroupVersion.String())]
	want := fieldpath.NewSet(users...)
	got := filter.Filter(fieldpath.NewSet(append(servers, users...)...))
	if !got.Equals(want) {
		t.Errorf("kept beyond the user's: %v\nlost of the user's: %v", got.Difference(want), want.Difference(got))
	}
}
