// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
)

const (
	// objectNameIndex finds objects of one name in all namespaces.
	objectNameIndex = "metadata.name"
	// instanceNameIndex finds objects by the name that users see.
	instanceNameIndex = "instance-name"
)

// withdrawal is how long the API server may take to withdraw an object whose
// name turned out to be taken.
const withdrawal = 10 * time.Second

// elder says whether an older object in another namespace is the same instance:
// its name and network are the same, so they would share one server. The older
// one has it, for as long as it exists.
func (r *Reconciler) elder(ctx context.Context, s *subject) (bool, error) {
	var list v1alpha1.ComputeInstanceList
	if err := r.client.List(ctx, &list, client.MatchingFields{objectNameIndex: s.object.Name}); err != nil {
		return false, err
	}
	for i := range list.Items {
		other := &list.Items[i]
		theirs, _ := newSubject(other)
		if other.UID != s.object.UID && theirs.network == s.network && older(other, s.object) {
			return true, nil
		}
	}
	return false, nil
}

// checkNamesake lets no server be made while another object in the namespace
// has the name that users see. The API server lets the first writer have it and
// withdraws the others; should it have died in between, the older object wins.
func (r *Reconciler) checkNamesake(ctx context.Context, s *subject) error {
	name := s.object.Labels[v1alpha1.LabelInstanceName]
	if name == "" {
		return nil
	}
	var list v1alpha1.ComputeInstanceList
	err := r.client.List(ctx, &list, client.InNamespace(s.object.Namespace),
		client.MatchingFields{instanceNameIndex: name})
	if err != nil {
		return err
	}
	for i := range list.Items {
		other := &list.Items[i]
		if other.UID == s.object.UID || other.CreationTimestamp.After(s.object.CreationTimestamp.Time) {
			continue
		}
		if r.clock.Since(s.object.CreationTimestamp.Time) < withdrawal {
			return &halt{verdict: verdict{reason: v1alpha1.ReasonProvisioning, message: "Another instance of this name is being withdrawn.", again: readLag}}
		}
		if older(other, s.object) {
			return hold(v1alpha1.ReasonNameTaken, "Another instance in the namespace has this name.")
		}
	}
	return nil
}

// older orders objects by creation. Within one second it is arbitrary, and the
// same for everybody.
func older(a, b *v1alpha1.ComputeInstance) bool {
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.CreationTimestamp.Before(&b.CreationTimestamp)
	}
	return a.UID < b.UID
}
