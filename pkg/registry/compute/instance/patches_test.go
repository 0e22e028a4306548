// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
)

// undecodable is the error that the API machinery makes of a patch.
func undecodable(value any, detail string) error {
	return apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{field.Invalid(field.NewPath("patch"), value, detail)})
}

func TestErrorsOfPatchesShowNoObject(t *testing.T) {
	for name, value := range map[string]any{
		"object":                 `{"spec":{"userData":"hunter2"}}`,
		"object with quotes":     `": hunter2": "`,
		"what the machinery may": map[string]string{"userData": "hunter2"},
	} {
		t.Run(name, func(t *testing.T) {
			err := patchError(undecodable(value, `illegal base64: "byte": 0`), "web-1")
			want := `Instance.compute.unikorn-cloud.org "web-1" is invalid: patch: Invalid value: illegal base64: "byte": 0`
			if name == "what the machinery may" {
				want = `Instance.compute.unikorn-cloud.org "web-1" is invalid: patch: Invalid value`
			}
			if !apierrors.IsInvalid(err) || err.Error() != want {
				t.Errorf("got  %v\nwant %v", err, want)
			}
		})
	}
}

func TestErrorsOfAppliesAreTheClients(t *testing.T) {
	for text, want := range map[string]string{
		"failed to convert new object (alpha/web-1; v1beta1, Kind=Instance) to proper version: illegal base64": "failed to convert new object (alpha/web-1; v1beta1, Kind=Instance) to proper version: illegal base64",
		"failed to create typed patch object (alpha/web-1): .spec.userData: expected string, got &{[hunter2]}": "failed to create typed patch object (alpha/web-1): .spec.userData: expected string",
	} {
		if err := patchError(errors.New(text), "web-1"); !apierrors.IsBadRequest(err) || err.Error() != want {
			t.Errorf("got  %v\nwant %v", err, want)
		}
	}
}

func TestOtherErrorsPass(t *testing.T) {
	for name, err := range map[string]error{
		"none":           nil,
		"of the network": errors.New("connection refused"),
		"of a form":      apierrors.NewInvalid(instanceKind, "web-1", field.ErrorList{field.Required(field.NewPath("patch"), "")}),
		"of a version":   apierrors.NewConflict(compute.Resource("instances"), "web-1", errors.New("stale")),
	} {
		if got := patchError(err, "web-1"); !errors.Is(got, err) {
			t.Errorf("%s: got %v, want %v", name, got, err)
		}
	}
}
