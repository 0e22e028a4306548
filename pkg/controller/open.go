// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/quota"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// open charges for an object of another writer that did not, or whose charge is
// gone, and stores the allocation on it. What was charged and could not be
// stored is stored by the next pass: a second charge would be a leak. For the
// same reason shutdown does not cut it short, and it is not repeated when its
// answer was lost.
func (r *Reconciler) open(ctx context.Context, s *subject) error {
	ctx = context.WithoutCancel(ctx)
	if s.note.opened == "" {
		made, err := r.openNew(ctx, s)
		if err != nil {
			return err
		}
		s.note.opened = made
	}
	before := s.object.DeepCopy()
	if s.object.Annotations == nil {
		s.object.Annotations = map[string]string{}
	}
	s.object.Annotations[v1alpha1.AnnotationAllocationID] = string(s.note.opened)
	if err := r.client.Patch(ctx, s.object, locked(before)); err != nil {
		before.DeepCopyInto(s.object)
		return err
	}
	s.note.opened = ""
	return nil
}

func (r *Reconciler) openNew(ctx context.Context, s *subject) (ids.AllocationID, error) {
	cost, err := r.cost(ctx, s, quota.Cost{})
	if err != nil {
		return "", err
	}
	allocation, err := r.identity.CreateAllocation(ctx, r.signer.Sign(s.principal),
		s.principal.OrganizationID, s.principal.ProjectID, r.ledger.Allocation(s.id, cost))
	if unikorn.OutcomeUnknown(err) {
		return "", park(v1alpha1.ReasonErrored, "The answer to a charge of quota was lost. Change the spec to charge again.")
	}
	if err != nil {
		return "", err
	}
	return allocation.ID(), nil
}

// dropOpened gives back what open charged if somebody else charged meanwhile.
func (r *Reconciler) dropOpened(ctx context.Context, s *subject) error {
	if s.note.opened == "" || s.allocation() == "" {
		return nil
	}
	if s.note.opened != s.allocation() {
		if err := r.giveBack(ctx, s, s.note.opened); err != nil {
			return err
		}
	}
	s.note.opened = ""
	return nil
}

// locked is a patch from before that fails when before is not what the API
// server has.
func locked(before client.Object) client.Patch {
	return client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
}
