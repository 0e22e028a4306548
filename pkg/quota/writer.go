// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/identity"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/storage/crbacked"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// Allocations are the quota allocations of the identity service. Errors are
// those of pkg/unikorn and pkg/identity.
type Allocations interface {
	CreateAllocation(ctx context.Context, credential principal.Credential, organization ids.OrganizationID, project ids.ProjectID, allocation identity.AllocationWrite) (*identity.Allocation, error)
	Allocation(ctx context.Context, credential principal.Credential, organization ids.OrganizationID, project ids.ProjectID, id ids.AllocationID) (*identity.Allocation, error)
	UpdateAllocation(ctx context.Context, credential principal.Credential, organization ids.OrganizationID, project ids.ProjectID, id ids.AllocationID, allocation identity.AllocationWrite) (*identity.Allocation, error)
}

type instanceWriter = crbacked.Writer[*v1alpha1.ComputeInstance]

var _ instanceWriter = &Writer{}

// Writer charges quota around the write of a ComputeInstance.
type Writer struct {
	next        instanceWriter
	allocations Allocations
	ledger      Ledger
	refunds     *Refunds
}

// NewWriter returns a writer that charges before it hands a write to next.
func NewWriter(next instanceWriter, allocations Allocations, ledger Ledger, refunds *Refunds) *Writer {
	return &Writer{next: next, allocations: allocations, ledger: ledger, refunds: refunds}
}

// Create implements crbacked.Writer: charge, then write. The other way round,
// a crash in between would leave a machine that nobody pays for; this way it
// leaves a charge, which is recorded with the id of this cluster.
func (w *Writer) Create(ctx context.Context, instance *v1alpha1.ComputeInstance) (*crbacked.Stored[*v1alpha1.ComputeInstance], error) {
	charge, ok := chargeFrom(ctx)
	if !ok || !charge.Due {
		return nil, apierrors.NewInternalError(errors.New("an instance was about to be stored without a charge"))
	}
	if err := charge.Confirm(ctx); err != nil {
		return nil, err
	}
	owner := charge.Principal
	// A caller that goes away must not take the answer with it: the allocation
	// could then be neither used nor given back.
	allocation, err := w.allocations.CreateAllocation(context.WithoutCancel(ctx), principal.Service(owner),
		owner.OrganizationID, owner.ProjectID, w.ledger.Allocation(ids.InstanceID(instance.Name), charge.Cost))
	if err != nil {
		return nil, unconfirmed(err)
	}
	id := allocation.ID()
	metav1.SetMetaDataAnnotation(&instance.ObjectMeta, v1alpha1.AnnotationAllocationID, string(id))

	stored, err := w.next.Create(ctx, instance)
	switch {
	case crbacked.OutcomeUnknown(err):
		// Given back, it could leave an instance that nobody pays for.
		unsettledWrites.Inc()
	case err != nil:
		if apierrors.IsAlreadyExists(err) {
			charge.Taken = instance.Name
		}
		w.refunds.Give(ctx, owner, id)
	}
	return stored, err
}

// unconfirmed turns an answer of identity that leaves open whether there is an
// allocation now into one that clients do not repeat by themselves, as they do
// with one that says when to try again: each repetition could be charged.
func unconfirmed(err error) error {
	if !unikorn.OutcomeUnknown(err) {
		return err
	}
	unconfirmedAllocations.Inc()
	return apierrors.NewTimeoutError(
		"the identity service did not confirm the charge, and nothing was created; it may have been charged all the same", 0)
}

// Update implements crbacked.Writer. It only ever raises the charge: what the
// instance takes less is given back by the controller, when the machine has in
// fact become smaller.
func (w *Writer) Update(ctx context.Context, stored *crbacked.Stored[*v1alpha1.ComputeInstance], desired *v1alpha1.ComputeInstance) (*crbacked.Stored[*v1alpha1.ComputeInstance], error) {
	if charge, ok := chargeFrom(ctx); ok && charge.Due {
		if err := charge.Confirm(ctx); err != nil {
			return nil, err
		}
		if err := w.raise(ctx, charge, desired); err != nil {
			return nil, err
		}
	}
	return w.next.Update(ctx, stored, desired)
}

func (w *Writer) raise(ctx context.Context, charge *Charge, instance *v1alpha1.ComputeInstance) error {
	id := ids.AllocationID(instance.Annotations[v1alpha1.AnnotationAllocationID])
	if id == "" {
		// Made by another writer: the controller charges before it builds.
		return nil
	}
	owner := charge.Principal
	credential := principal.Service(owner)
	current, err := w.allocations.Allocation(ctx, credential, owner.OrganizationID, owner.ProjectID, id)
	if unikorn.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	charged := w.ledger.Charged(current.Spec)
	if charged.Covers(charge.Cost) {
		return nil
	}
	_, err = w.allocations.UpdateAllocation(ctx, credential, owner.OrganizationID, owner.ProjectID, id,
		w.ledger.Allocation(ids.InstanceID(instance.Name), charged.Max(charge.Cost)))
	return err
}

// SameAllocation says whether two ComputeInstances were paid for by the same
// allocation, which no two creates are.
func SameAllocation(a, b *v1alpha1.ComputeInstance) bool {
	id := a.Annotations[v1alpha1.AnnotationAllocationID]
	return id != "" && id == b.Annotations[v1alpha1.AnnotationAllocationID]
}
