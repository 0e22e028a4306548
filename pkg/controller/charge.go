// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"time"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/quota"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// errUncharged says that nothing is charged for an instance.
var errUncharged = errors.New("nothing is charged for the instance")

// cover makes sure that the instance's allocation pays for its spec, before a
// server is made or changed to match it. It only raises: what is charged beyond
// the spec may be due for the server that still is there, or for a change that
// is being stored.
func (r *Reconciler) cover(ctx context.Context, s *subject) error {
	charged, err := r.charged(ctx, s)
	if errors.Is(err, errUncharged) {
		return quotaRefused(r.open(ctx, s))
	}
	if err != nil {
		return err
	}
	cost, err := r.cost(ctx, s, charged)
	if err != nil || charged.Covers(cost) {
		return err
	}
	return quotaRefused(r.charge(ctx, s, charged.Max(cost)))
}

// settle charges exactly what the spec costs. The server must match it. An
// object that nobody ever charged for is left alone until its server is changed.
func (r *Reconciler) settle(ctx context.Context, s *subject) error {
	if s.allocation() == "" {
		return nil
	}
	charged, err := r.charged(ctx, s)
	if errors.Is(err, errUncharged) {
		return quotaRefused(r.open(ctx, s))
	}
	if err != nil {
		return err
	}
	cost, err := r.cost(ctx, s, charged)
	if err != nil || charged == cost {
		return err
	}
	return quotaRefused(r.charge(ctx, s, cost))
}

// cost is what the spec costs. GPUs of a flavor that was retired are what was
// charged for them when it was there.
func (r *Reconciler) cost(ctx context.Context, s *subject, charged quota.Cost) (quota.Cost, error) {
	gpus, known, err := r.flavors.gpus(ctx, s)
	if err != nil {
		return quota.Cost{}, err
	}
	if !known {
		gpus = charged.GPUs
	}
	networking := s.object.Spec.Networking
	return quota.CostOf(gpus, networking != nil && networking.PublicIP), nil
}

// charged is what is charged now. It is errUncharged without an allocation, or
// with one that does not exist, which the first time may mean not yet.
func (r *Reconciler) charged(ctx context.Context, s *subject) (quota.Cost, error) {
	if s.allocation() == "" {
		return quota.Cost{}, errUncharged
	}
	allocation, err := r.identity.Allocation(ctx, r.signer.Sign(s.principal),
		s.principal.OrganizationID, s.principal.ProjectID, s.allocation())
	switch {
	case unikorn.IsNotFound(err):
		return quota.Cost{}, r.missing(s)
	case err != nil:
		return quota.Cost{}, err
	}
	s.note.missingSince = time.Time{}
	return r.ledger.Charged(allocation.Spec), nil
}

// missing says what an allocation means that was not found: a read that lags,
// at first.
func (r *Reconciler) missing(s *subject) error {
	now := r.clock.Now()
	if s.note.missingSince.IsZero() {
		s.note.missingSince = now
	}
	if now.Sub(s.note.missingSince) >= missingLimit {
		return errUncharged
	}
	return &halt{verdict: verdict{
		reason:  v1alpha1.ReasonDependencyNotReady,
		message: "The charge of the instance is not found.",
		again:   readLag,
	}}
}

func (r *Reconciler) charge(ctx context.Context, s *subject, cost quota.Cost) error {
	_, err := r.identity.UpdateAllocation(ctx, r.signer.Sign(s.principal),
		s.principal.OrganizationID, s.principal.ProjectID, s.allocation(), r.ledger.Allocation(s.id, cost))
	return err
}
