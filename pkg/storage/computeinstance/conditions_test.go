// SPDX-License-Identifier: Apache-2.0

package computeinstance_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/computetest"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/storage/computeinstance"
)

// after is a time some minutes after the instance was created.
func after(minutes int) metav1.Time {
	return metav1.NewTime(computetest.Created.Add(time.Duration(minutes) * time.Minute))
}

// available and active add a condition as the controller stores it, about
// generation, changed some minutes after creation.
func available(reason string, generation int64, minutes int) edit {
	return reported(v1alpha1.ConditionAvailable, reason, reason == "Provisioned", generation, minutes)
}

func active(reason string, minutes int) edit {
	return reported(v1alpha1.ConditionActive, reason, reason == "Running", 0, minutes)
}

func reported(kind, reason string, holds bool, generation int64, minutes int) edit {
	status := metav1.ConditionFalse
	if holds {
		status = metav1.ConditionTrue
	}
	return func(stored *v1alpha1.ComputeInstance) {
		stored.Status.Conditions = append(stored.Status.Conditions, metav1.Condition{
			Type: kind, Status: status, Reason: reason, Message: kind + " is " + reason + ".",
			ObservedGeneration: generation, LastTransitionTime: after(minutes),
		})
	}
}

func generation(n int64) edit {
	return func(stored *v1alpha1.ComputeInstance) { stored.Generation = n }
}

func deleted(minutes int) edit {
	return func(stored *v1alpha1.ComputeInstance) {
		at := after(minutes)
		stored.DeletionTimestamp = &at
	}
}

func modified(minutes int) edit {
	return func(stored *v1alpha1.ComputeInstance) {
		stored.Annotations[v1alpha1.AnnotationModifiedTimestamp] = after(minutes).UTC().Format(time.RFC3339)
	}
}

// asked adds a change of power that was asked for some minutes and seconds after
// creation.
func asked(state string, minutes, seconds int) edit {
	return func(stored *v1alpha1.ComputeInstance) {
		at := after(minutes).Add(time.Duration(seconds)*time.Second + 300*time.Millisecond)
		stored.Annotations[v1alpha1.AnnotationPowerRequested] = v1alpha1.PowerRequest{State: state, Time: at}.String()
	}
}

// said is what one condition comes to.
type said struct {
	Status   metav1.ConditionStatus
	Reason   string
	Minutes  int
	Observed int64
}

func find(t *testing.T, instance *compute.Instance, kind string) said {
	t.Helper()
	condition := meta.FindStatusCondition(instance.Status.Conditions, kind)
	if condition == nil {
		t.Fatalf("no condition %s", kind)
	}
	return said{
		Status:   condition.Status,
		Reason:   condition.Reason,
		Minutes:  int(condition.LastTransitionTime.Sub(computetest.Created.Time) / time.Minute),
		Observed: condition.ObservedGeneration,
	}
}

func TestReadyAndStalled(t *testing.T) {
	const yes, no = metav1.ConditionTrue, metav1.ConditionFalse
	calm := func(minutes int, observed int64) said { return said{no, "NotStalled", minutes, observed} }
	same := func(s said) said { s.Status = yes; return s }

	tests := map[string]struct {
		stored  []edit
		ready   said
		stalled said
	}{
		"new": {nil, said{no, "Pending", 0, 0}, calm(0, 0)},
		"taken up": {
			[]edit{available("Provisioning", 1, 1)},
			said{no, "Provisioning", 1, 1}, calm(1, 1),
		},
		"handed over, no power state": {
			[]edit{available("Provisioned", 1, 2)},
			said{no, "PowerStateUnknown", 2, 1}, calm(2, 1),
		},
		"handed over, unknown power state": {
			[]edit{available("Provisioned", 1, 2), active("Hibernating", 3)},
			said{no, "PowerStateUnknown", 2, 1}, calm(2, 1),
		},
		"building":       {[]edit{available("Provisioned", 1, 2), active("Building", 1)}, said{no, "Building", 1, 1}, calm(1, 1)},
		"stopping":       {[]edit{available("Provisioned", 1, 2), active("Stopping", 5)}, said{no, "Stopping", 5, 1}, calm(5, 1)},
		"running":        {[]edit{available("Provisioned", 1, 2), active("Running", 3)}, said{yes, "Running", 3, 1}, calm(3, 1)},
		"ran before":     {[]edit{available("Provisioned", 1, 6), active("Running", 3)}, said{yes, "Running", 6, 1}, calm(6, 1)},
		"stopped":        {[]edit{available("Provisioned", 1, 2), active("Stopped", 4)}, said{yes, "Stopped", 4, 1}, calm(4, 1)},
		"no generation":  {[]edit{generation(5), available("Provisioned", 0, 2), active("Running", 3)}, said{yes, "Running", 3, 5}, calm(3, 5)},
		"error":          {[]edit{available("Provisioned", 1, 2), active("Error", 4)}, said{no, "Error", 4, 1}, same(said{no, "Error", 4, 1})},
		"errored":        {[]edit{available("Errored", 1, 2)}, said{no, "Errored", 2, 1}, same(said{no, "Errored", 2, 1})},
		"name taken":     {[]edit{available("NameTaken", 1, 2)}, said{no, "NameTaken", 2, 1}, same(said{no, "NameTaken", 2, 1})},
		"foreign":        {[]edit{available("OwnerMismatch", 1, 2)}, said{no, "OwnerMismatch", 2, 1}, same(said{no, "OwnerMismatch", 2, 1})},
		"nothing there":  {[]edit{available("DependencyNotFound", 1, 2)}, said{no, "DependencyNotFound", 2, 1}, same(said{no, "DependencyNotFound", 2, 1})},
		"waiting":        {[]edit{available("DependencyNotReady", 1, 2)}, said{no, "DependencyNotReady", 2, 1}, calm(2, 1)},
		"no quota":       {[]edit{available("QuotaExceeded", 1, 2)}, said{no, "QuotaExceeded", 2, 1}, calm(2, 1)},
		"paused":         {[]edit{available("Paused", 1, 2), active("Running", 1)}, said{no, "Paused", 2, 1}, calm(2, 1)},
		"without reason": {[]edit{available("", 1, 2)}, said{no, "Unknown", 2, 1}, calm(2, 1)},
		"errored, at work on the cure": {
			[]edit{generation(2), available("Provisioning", 2, 5), active("Error", 4)},
			said{no, "Provisioning", 5, 2}, calm(5, 2),
		},
		"asked to stop": {
			[]edit{available("Provisioned", 1, 2), active("Running", 3), asked("Stopped", 4, 0)},
			said{no, "PowerChanging", 4, 1}, calm(4, 1),
		},
		"asked to stop, on the way":   {[]edit{available("Provisioned", 1, 2), active("Stopping", 4), asked("Stopped", 4, 0)}, said{no, "Stopping", 4, 1}, calm(4, 1)},
		"asked to stop, and stopped":  {[]edit{available("Provisioned", 1, 2), active("Stopped", 4), asked("Stopped", 4, 0)}, said{yes, "Stopped", 4, 1}, calm(4, 1)},
		"asked to start, not seen":    {[]edit{available("Provisioned", 1, 2), active("Stopped", 3), asked("Running", 4, 0)}, said{no, "PowerChanging", 4, 1}, calm(4, 1)},
		"asked to start right after":  {[]edit{available("Provisioned", 1, 2), active("Stopped", 4), asked("Running", 3, 58)}, said{no, "PowerChanging", 4, 1}, calm(4, 1)},
		"asked to start, on the way":  {[]edit{available("Provisioned", 1, 2), active("Pending", 3), asked("Running", 4, 0)}, said{no, "Pending", 3, 1}, calm(3, 1)},
		"asked to start, and running": {[]edit{available("Provisioned", 1, 2), active("Running", 5), asked("Running", 4, 0)}, said{yes, "Running", 5, 1}, calm(5, 1)},
		"asked to start what runs":    {[]edit{available("Provisioned", 1, 2), active("Running", 3), asked("Running", 4, 0)}, said{yes, "Running", 3, 1}, calm(3, 1)},
		"started, and stopped by somebody else since": {
			[]edit{available("Provisioned", 1, 2), active("Stopped", 5), asked("Running", 4, 0)},
			said{yes, "Stopped", 5, 1}, calm(5, 1),
		},
		"asked to start, and broke down": {
			[]edit{available("Provisioned", 1, 2), active("Error", 3), asked("Running", 4, 0)},
			said{no, "Error", 3, 1}, same(said{no, "Error", 3, 1}),
		},
		"asked for in a form that is not known": {
			[]edit{available("Provisioned", 1, 2), active("Running", 3), func(stored *v1alpha1.ComputeInstance) {
				stored.Annotations[v1alpha1.AnnotationPowerRequested] = "Stopped soon"
			}},
			said{yes, "Running", 3, 1}, calm(3, 1),
		},
		"changed": {
			[]edit{generation(2), modified(7), available("Provisioned", 1, 2), active("Running", 3)},
			said{no, "Updating", 7, 1}, calm(7, 1),
		},
		"changed by another writer": {
			[]edit{generation(2), available("Provisioned", 1, 2), active("Running", 3)},
			said{no, "Updating", 2, 1}, calm(2, 1),
		},
		"changed before the last report": {
			[]edit{generation(2), modified(1), available("Provisioned", 1, 2), active("Running", 3)},
			said{no, "Updating", 2, 1}, calm(2, 1),
		},
		"changed after an error": {
			[]edit{generation(2), modified(7), available("Errored", 1, 2)},
			said{no, "Updating", 7, 1}, calm(7, 1),
		},
		"deleted": {
			[]edit{available("Provisioned", 1, 2), active("Running", 3), deleted(8)},
			said{no, "Deleting", 8, 1}, calm(8, 1),
		},
		"deleted after an error": {
			[]edit{available("Errored", 1, 2), deleted(8)},
			said{no, "Deleting", 8, 1}, calm(8, 1),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			instance := project(t, test.stored...)
			if diff := cmp.Diff(test.ready, find(t, instance, v1beta1.ConditionReady)); diff != "" {
				t.Errorf("Ready (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.stalled, find(t, instance, v1beta1.ConditionStalled)); diff != "" {
				t.Errorf("Stalled (-want +got):\n%s", diff)
			}
			if again := project(t, test.stored...); !cmp.Equal(instance, again) {
				t.Errorf("read twice (-first +second):\n%s", cmp.Diff(instance, again))
			}
		})
	}
}

func TestStoredConditionsAreMirrored(t *testing.T) {
	stored := computetest.Stored(available("Provisioned", 1, 2), active("Running", 3),
		reported(v1alpha1.ConditionHealthy, "Healthy", true, 1, 3))
	want := stored.DeepCopy().Status.Conditions
	var instance compute.Instance
	if corruption := (computeinstance.Mapper{}).ToObject(stored, &instance); corruption != nil {
		t.Fatal(corruption)
	}
	if diff := cmp.Diff(want, instance.Status.Conditions[2:]); diff != "" {
		t.Errorf("conditions after Ready and Stalled (-want +got):\n%s", diff)
	}
}

func TestOneConditionOfEachType(t *testing.T) {
	instance := project(t, available("Provisioned", 1, 2), active("Running", 3),
		reported(v1beta1.ConditionReady, "SaysAnotherWriter", false, 1, 9),
		reported(v1alpha1.ConditionActive, "Stopped", false, 1, 9),
		reported(v1beta1.ConditionStalled, "SaysAnotherWriter", true, 1, 9))
	var types []string
	for _, condition := range instance.Status.Conditions {
		types = append(types, condition.Type)
	}
	if diff := cmp.Diff([]string{"Ready", "Stalled", "Available", "Active"}, types); diff != "" {
		t.Errorf("types (-want +got):\n%s", diff)
	}
	if got := find(t, instance, v1beta1.ConditionReady); got.Reason != "Running" {
		t.Errorf("Ready has the reason %s, want the first Active condition's", got.Reason)
	}
	if instance.Status.PowerState != compute.PowerStateRunning {
		t.Errorf("power state %s, want that of the first Active condition", instance.Status.PowerState)
	}
}
