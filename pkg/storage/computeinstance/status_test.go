// SPDX-License-Identifier: Apache-2.0

package computeinstance_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/computetest"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/fuzzer"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/storage/computeinstance"
)

// edit changes a stored instance.
type edit = func(*v1alpha1.ComputeInstance)

// project reads a stored instance that is sound.
func project(t *testing.T, edits ...edit) *compute.Instance {
	t.Helper()
	stored, mapper := computetest.Stored(edits...), computeinstance.Mapper{}
	instance := mapper.NewObject()
	stored.ObjectMeta.DeepCopyInto(&instance.ObjectMeta)
	if corruption := mapper.ToObject(stored, instance); corruption != nil {
		t.Fatalf("corrupt: %v", corruption)
	}
	return instance
}

func TestPowerStates(t *testing.T) {
	for _, state := range fuzzer.PowerStates {
		if got := project(t, active(string(state), 1)).Status.PowerState; got != state {
			t.Errorf("reason %s is shown as %q", state, got)
		}
	}
	for name, stored := range map[string][]edit{
		"no condition":    nil,
		"unknown reason":  {active("Hibernating", 1)},
		"no reason":       {active("", 1)},
		"other case":      {active("running", 1)},
		"other condition": {reported("Passive", "Running", true, 1, 1)},
	} {
		if got := project(t, stored...).Status.PowerState; got != "" {
			t.Errorf("%s is shown as %q, want nothing", name, got)
		}
	}
}

func TestObservedGeneration(t *testing.T) {
	tests := map[string]struct {
		stored []edit
		want   int64
	}{
		"nothing reported":      {[]edit{generation(3)}, 0},
		"of another condition":  {[]edit{generation(3), reported("Healthy", "Healthy", true, 3, 1)}, 0},
		"current":               {[]edit{generation(3), available("Provisioned", 3, 1)}, 3},
		"older":                 {[]edit{generation(3), available("Provisioned", 2, 1)}, 2},
		"left out by its maker": {[]edit{generation(3), available("Provisioned", 0, 1)}, 3},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := project(t, test.stored...).Status.ObservedGeneration; got != test.want {
				t.Errorf("observed generation %d, want %d", got, test.want)
			}
		})
	}
}

func TestStatusIsMirrored(t *testing.T) {
	got := project(t, active("Running", 1), func(stored *v1alpha1.ComputeInstance) {
		stored.Status.PrivateIP = "10.1.0.5"
		stored.Status.PublicIP = "203.0.113.5"
		stored.Status.MACAddress = "fa:16:3e:00:00:05"
	}).Status
	want := compute.InstanceStatus{
		InstanceID: computetest.ObjectName,
		RegionID:   computetest.Region,
		NetworkID:  computetest.Network,
		PowerState: compute.PowerStateRunning,
		PrivateIP:  "10.1.0.5",
		PublicIP:   "203.0.113.5",
		MACAddress: "fa:16:3e:00:00:05",
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(compute.InstanceStatus{}, "Conditions")); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}
