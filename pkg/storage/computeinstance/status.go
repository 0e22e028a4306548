// SPDX-License-Identifier: Apache-2.0

package computeinstance

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
)

func statusOf(stored *v1alpha1.ComputeInstance) compute.InstanceStatus {
	return compute.InstanceStatus{
		InstanceID:         ids.InstanceID(stored.Name),
		RegionID:           ids.RegionID(stored.Labels[v1alpha1.LabelRegion]),
		NetworkID:          ids.NetworkID(stored.Labels[v1alpha1.LabelNetwork]),
		PowerState:         powerStateOf(stored.Status.Conditions),
		PrivateIP:          stored.Status.PrivateIP,
		PublicIP:           stored.Status.PublicIP,
		MACAddress:         stored.Status.MACAddress,
		ObservedGeneration: observedGeneration(stored),
		Conditions:         conditionsOf(stored),
	}
}

// powerStateOf is the reason of the Active condition where it is one of the
// known states. Anything else is no state: a new one must not be taken for an
// old one. docs/reference/wire.md, "Power states".
func powerStateOf(conditions []metav1.Condition) compute.PowerState {
	active := meta.FindStatusCondition(conditions, v1alpha1.ConditionActive)
	if active == nil {
		return ""
	}
	switch state := compute.PowerState(active.Reason); state {
	case compute.PowerStatePending, compute.PowerStateQueued, compute.PowerStateBuilding, compute.PowerStateRebuilding,
		compute.PowerStateRunning, compute.PowerStateStopping, compute.PowerStateStopped, compute.PowerStateError:
		return state
	default:
		return ""
	}
}

// observedGeneration is the generation that the platform last took up. The
// Available condition carries it; controllers that leave it out are believed
// to be up to date.
func observedGeneration(stored *v1alpha1.ComputeInstance) int64 {
	available := meta.FindStatusCondition(stored.Status.Conditions, v1alpha1.ConditionAvailable)
	switch {
	case available == nil:
		return 0
	case available.ObservedGeneration == 0:
		return stored.Generation
	default:
		return available.ObservedGeneration
	}
}
