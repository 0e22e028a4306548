// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/storage/crbacked"
)

// record changes the status and stores it if that made a difference.
func (r *Reconciler) record(ctx context.Context, s *subject, change func(projection)) error {
	before := s.object.DeepCopy()
	change(projection{status: &s.object.Status, generation: s.object.Generation, now: r.clock.Now()})
	if equality.Semantic.DeepEqual(before.Status, s.object.Status) {
		return nil
	}
	if err := r.client.Status().Patch(ctx, s.object, locked(before)); err != nil {
		before.DeepCopyInto(s.object)
		return err
	}
	r.warn(s, reasonOf(before))
	return nil
}

func reasonOf(object *v1alpha1.ComputeInstance) string {
	if available := meta.FindStatusCondition(object.Status.Conditions, v1alpha1.ConditionAvailable); available != nil {
		return available.Reason
	}
	return ""
}

// warn makes an event of a reason that needs somebody's attention, when it is new.
func (r *Reconciler) warn(s *subject, before string) {
	switch reasonOf(s.object) {
	case before:
	case v1alpha1.ReasonErrored, v1alpha1.ReasonQuotaExceeded, v1alpha1.ReasonNameTaken, v1alpha1.ReasonOwnerMismatch, v1alpha1.ReasonDependencyNotFound:
		available := meta.FindStatusCondition(s.object.Status.Conditions, v1alpha1.ConditionAvailable)
		r.event(s, corev1.EventTypeWarning, available.Reason, "Reconcile", available.Message)
	}
}

// event records an event of the Instance, which is what people look at; tenants
// cannot see the object behind it.
func (r *Reconciler) event(s *subject, kind, reason, action, message string) {
	name := s.object.Labels[v1alpha1.LabelInstanceName]
	if name == "" {
		name = s.object.Name
	}
	instance := &corev1.ObjectReference{
		APIVersion: v1beta1.SchemeGroupVersion.String(),
		Kind:       "Instance",
		Namespace:  s.object.Namespace,
		Name:       name,
		// Describing an Instance finds the events with its uid.
		UID: crbacked.FacadeUID(s.object.UID, v1alpha1.InstanceUIDSalt),
	}
	r.recorder.Eventf(instance, nil, kind, reason, action, "%s", message)
}
