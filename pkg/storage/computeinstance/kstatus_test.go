// SPDX-License-Identifier: Apache-2.0

package computeinstance_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/install"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
)

// Flux, Argo CD and others read an object as kstatus does.
func TestToolsReadTheStateOfAnInstance(t *testing.T) {
	scheme := runtime.NewScheme()
	install.Install(scheme)

	tests := map[string]struct {
		stored []edit
		want   status.Status
	}{
		"newly created": {nil, status.InProgressStatus},
		"being made":    {[]edit{available("Provisioning", 1, 1)}, status.InProgressStatus},
		"building":      {[]edit{available("Provisioned", 1, 2), active("Building", 2)}, status.InProgressStatus},
		"running":       {[]edit{available("Provisioned", 1, 2), active("Running", 3)}, status.CurrentStatus},
		"stopped":       {[]edit{available("Provisioned", 1, 2), active("Stopped", 3)}, status.CurrentStatus},
		"starting":      {[]edit{available("Provisioned", 1, 2), active("Stopped", 3), asked("Running", 4, 0)}, status.InProgressStatus},
		"errored":       {[]edit{available("Errored", 1, 2)}, status.FailedStatus},
		"broken down":   {[]edit{available("Provisioned", 1, 2), active("Error", 3)}, status.FailedStatus},
		"updating": {
			[]edit{generation(2), available("Provisioned", 1, 2), active("Running", 3)},
			status.InProgressStatus,
		},
		"updated after an error": {
			[]edit{generation(2), available("Errored", 1, 2)},
			status.InProgressStatus,
		},
		"deleting": {
			[]edit{available("Errored", 1, 2), active("Error", 3), deleted(4)},
			status.TerminatingStatus,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			served := &v1beta1.Instance{}
			if err := scheme.Convert(project(t, test.stored...), served, nil); err != nil {
				t.Fatal(err)
			}
			content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(served)
			if err != nil {
				t.Fatal(err)
			}
			object := &unstructured.Unstructured{Object: content}
			object.SetGroupVersionKind(v1beta1.SchemeGroupVersion.WithKind("Instance"))
			result, err := status.Compute(object)
			if err != nil {
				t.Fatal(err)
			}
			if result.Status != test.want {
				t.Errorf("%s (%s), want %s", result.Status, result.Message, test.want)
			}
		})
	}
}
