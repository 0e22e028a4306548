// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"maps"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// announce stores that a server is about to be made, before it is: without
// Healthy, so that whoever deletes the object next knows that a create may be
// under way, even if this process does not live to see its answer.
func (r *Reconciler) announce(ctx context.Context, s *subject) error {
	if announced(s.object) {
		return nil
	}
	return r.record(ctx, s, func(p projection) {
		p.server(nil)
		p.available(verdict{reason: v1alpha1.ReasonProvisioning, message: "The server is being made."})
	})
}

// announced says whether a create may have been sent of which nothing was seen.
func announced(object *v1alpha1.ComputeInstance) bool {
	conditions := object.Status.Conditions
	available := meta.FindStatusCondition(conditions, v1alpha1.ConditionAvailable)
	return available != nil && available.Status != metav1.ConditionTrue &&
		meta.FindStatusCondition(conditions, v1alpha1.ConditionHealthy) == nil
}

// checkOwner compares the network with the object's labels: the region makes
// servers in the project of the network, whatever the labels say.
func (r *Reconciler) checkOwner(ctx context.Context, s *subject) error {
	network, err := r.region.Network(ctx, r.credential(s), s.network.Network)
	if unikorn.IsNotFound(err) {
		return hold(v1alpha1.ReasonDependencyNotFound, "The network does not exist.")
	}
	if err != nil {
		return err
	}
	if !same(network.Metadata.OrganizationID, s.network.Organization) ||
		!same(network.Metadata.ProjectID, s.network.Project) ||
		!same(network.Status.RegionID, s.network.Region) {
		return park(v1alpha1.ReasonOwnerMismatch, "The network is not of the instance's organization, project and region.")
	}
	return nil
}

// checkFlavor wants the flavor to be there before a server is made of it: the
// region does not say why it refuses one that is not.
func (r *Reconciler) checkFlavor(ctx context.Context, s *subject) error {
	_, known, err := r.flavors.gpus(ctx, s)
	if err != nil {
		return err
	}
	if !known {
		return hold(v1alpha1.ReasonDependencyNotFound, "The flavor does not exist in the region.")
	}
	return nil
}

// checkCurrent compares the object with what the API server has. The cache of a
// new leader can be behind by a deletion, and an old spec can cost a root disk.
func (r *Reconciler) checkCurrent(ctx context.Context, s *subject) error {
	live := &v1alpha1.ComputeInstance{}
	err := r.reader.Get(ctx, s.key(), live)
	if apierrors.IsNotFound(err) {
		return stale()
	}
	if err != nil {
		return err
	}
	if live.UID != s.object.UID || live.DeletionTimestamp != nil ||
		live.Generation != s.object.Generation || !maps.Equal(live.Labels, s.object.Labels) {
		return stale()
	}
	return nil
}

// wait is the time until the next update to a generation may be made: some
// regions do not read back what they were sent, and would be sent it for ever.
func (a *attempts) wait(generation int64, now time.Time) time.Duration {
	if a.generation != generation || a.count == 0 {
		return 0
	}
	delay := min(readLag<<min(a.count, 8), maxUpdateDelay)
	return a.last.Add(delay).Sub(now)
}

func (a *attempts) made(generation int64, now time.Time) {
	if a.generation != generation {
		*a = attempts{generation: generation}
	}
	a.count++
	a.last = now
}
