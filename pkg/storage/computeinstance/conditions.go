// SPDX-License-Identifier: Apache-2.0

package computeinstance

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
)

// conditionsOf adds Ready and Stalled to what the controller stored. Both are
// a pure function of the stored object, so that every replica says the same of
// the same version, down to the transition times.
func conditionsOf(stored *v1alpha1.ComputeInstance) []metav1.Condition {
	ready := readyOf(stored)
	ready.Type = v1beta1.ConditionReady
	ready.ObservedGeneration = observedGeneration(stored)
	stalled := stalledOf(stored, ready)
	stalled.Type = v1beta1.ConditionStalled
	stalled.ObservedGeneration = ready.ObservedGeneration

	conditions := make([]metav1.Condition, 0, len(stored.Status.Conditions)+2)
	conditions = append(conditions, ready, stalled)
	for _, condition := range stored.Status.Conditions {
		// One of each type: a list map with two of one key cannot be applied.
		if meta.FindStatusCondition(conditions, condition.Type) == nil {
			conditions = append(conditions, condition)
		}
	}
	return conditions
}

func readyOf(stored *v1alpha1.ComputeInstance) metav1.Condition {
	available := meta.FindStatusCondition(stored.Status.Conditions, v1alpha1.ConditionAvailable)
	active := meta.FindStatusCondition(stored.Status.Conditions, v1alpha1.ConditionActive)
	power := powerStateOf(stored.Status.Conditions)
	switch {
	case stored.DeletionTimestamp != nil:
		return notReady("Deleting", "The instance is being deleted.", *stored.DeletionTimestamp)
	case available == nil:
		return notReady("Pending", "The instance was not taken up by the controller yet.", stored.CreationTimestamp)
	case available.ObservedGeneration != 0 && available.ObservedGeneration < stored.Generation:
		return notReady("Updating", "The latest change was not taken up by the controller yet.", changedAt(stored, available))
	case available.Status != metav1.ConditionTrue:
		return notReady(available.Reason, available.Message, available.LastTransitionTime)
	case power == "":
		return notReady("PowerStateUnknown", "The platform reported no power state that is known.", available.LastTransitionTime)
	case power == compute.PowerStateRunning, power == compute.PowerStateStopped:
		if request, ok := unseen(stored, active); ok {
			return notReady("PowerChanging", fmt.Sprintf("The machine is to be %s, and was last seen %s.", request.State, power),
				later(metav1.NewTime(request.Time.Truncate(time.Second)), active.LastTransitionTime))
		}
		return metav1.Condition{
			Status:             metav1.ConditionTrue,
			Reason:             active.Reason,
			Message:            active.Message,
			LastTransitionTime: later(available.LastTransitionTime, active.LastTransitionTime),
		}
	default:
		return notReady(active.Reason, active.Message, active.LastTransitionTime)
	}
}

// powerLag is how much later than a change of power was asked for the machine
// may be seen as it was before: reads lag writes, and a list takes its time.
const powerLag = 2 * time.Second

// unseen is the change of power that was asked for, if what is stored about the
// machine is of before it. Where the state is another than what was asked for,
// only a transition that is newer counts: a poll of the provider that comes early
// shows the old state once more. It does not depend on a controller that knows
// of requests.
func unseen(stored *v1alpha1.ComputeInstance, active *metav1.Condition) (v1alpha1.PowerRequest, bool) {
	request, ok := v1alpha1.PowerRequestOf(stored.Annotations)
	if !ok || request.State == active.Reason {
		return v1alpha1.PowerRequest{}, false
	}
	return request, !active.LastTransitionTime.After(request.Time.Add(powerLag))
}

func notReady(reason, message string, since metav1.Time) metav1.Condition {
	if reason == "" {
		reason = "Unknown"
	}
	return metav1.Condition{Status: metav1.ConditionFalse, Reason: reason, Message: message, LastTransitionTime: since}
}

// parked are the reasons of Available that the controller does not leave by
// itself.
var parked = map[string]bool{
	v1alpha1.ReasonErrored:            true,
	v1alpha1.ReasonDependencyNotFound: true,
	v1alpha1.ReasonNameTaken:          true,
	v1alpha1.ReasonOwnerMismatch:      true,
}

// stalledOf is True where nothing moves without a change by the user. A newer
// spec, or a deletion, is such a change.
func stalledOf(stored *v1alpha1.ComputeInstance, ready metav1.Condition) metav1.Condition {
	available := meta.FindStatusCondition(stored.Status.Conditions, v1alpha1.ConditionAvailable)
	if stored.DeletionTimestamp != nil || available == nil || observedGeneration(stored) < stored.Generation ||
		!stuck(available, powerStateOf(stored.Status.Conditions)) {
		return metav1.Condition{
			Status:             metav1.ConditionFalse,
			Reason:             "NotStalled",
			Message:            "Nothing needs the user's attention.",
			LastTransitionTime: ready.LastTransitionTime,
		}
	}
	stalled := ready
	stalled.Status = metav1.ConditionTrue
	return stalled
}

// stuck leaves out the error of a machine that the controller is at work on:
// that is of the spec before.
func stuck(available *metav1.Condition, power compute.PowerState) bool {
	if available.Status == metav1.ConditionTrue {
		return power == compute.PowerStateError
	}
	return parked[available.Reason]
}

// changedAt is when the spec was last changed through this API, else when the
// controller last reported: never before, so that the time does not go back.
func changedAt(stored *v1alpha1.ComputeInstance, available *metav1.Condition) metav1.Time {
	changed, err := time.Parse(time.RFC3339, stored.Annotations[v1alpha1.AnnotationModifiedTimestamp])
	if err != nil {
		return available.LastTransitionTime
	}
	return later(metav1.NewTime(changed), available.LastTransitionTime)
}

func later(a, b metav1.Time) metav1.Time {
	if a.Before(&b) {
		return b
	}
	return a
}
