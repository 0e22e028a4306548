// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
)

// converge takes one step towards a server that matches the object. It returns
// the server as it is known then. With an error there is a verdict, too.
func (r *Reconciler) converge(ctx context.Context, s *subject, server *region.Server) (*region.Server, verdict, error) {
	server, v, err := r.step(ctx, s, server)
	var halted *halt
	switch {
	case errors.As(err, &halted):
		if halted.parks {
			s.note.parked, s.note.fingerprint = halted, s.fingerprint()
		}
		return server, halted.verdict, nil
	case err != nil && v.reason == "" && !outdated(err):
		v = troubled(err)
	}
	return server, v, err
}

func (r *Reconciler) step(ctx context.Context, s *subject, server *region.Server) (*region.Server, verdict, error) {
	todo := driftNone
	switch {
	case server == nil:
	case server.Deleting():
		return server, verdict{reason: v1alpha1.ReasonProvisioning, message: "The previous server is being removed.", again: yieldDelay}, nil
	default:
		todo = driftOf(&s.object.Spec, server)
		if todo == driftNone {
			v, err := r.matching(ctx, s, server)
			return server, v, err
		}
	}
	switch {
	case s.object.Spec.Pause:
		return server, verdict{reason: v1alpha1.ReasonPaused, message: "The instance is paused; its server is not changed."}, nil
	case s.note.parked != nil && s.note.fingerprint == s.fingerprint():
		return server, verdict{}, s.note.parked
	case server == nil:
		return r.create(ctx, s)
	case todo == driftReplace:
		return r.replace(ctx, s, server)
	}
	return r.update(ctx, s, server)
}

// matching is the verdict on a server that has the spec. Once it was handed
// over, no more is charged than it costs: the first time, because the change
// may have been charged for on top of what it replaced, and every now and then,
// because a change may have been charged for that was never stored.
func (r *Reconciler) matching(ctx context.Context, s *subject, server *region.Server) (verdict, error) {
	v := handedOver(server)
	if v.reason != v1alpha1.ReasonProvisioned {
		return v, nil
	}
	now := r.clock.Now()
	if !inPlace(s.object) {
		s.note.settleAt = now
	}
	// Nor may less be charged while an old create may still make another.
	s.note.settleAt = latest(s.note.settleAt, s.note.quiet())
	if now.Before(s.note.settleAt) {
		v.again = s.note.settleAt.Sub(now)
		return v, nil
	}
	err := r.settle(ctx, s)
	var halted *halt
	if errors.As(err, &halted) {
		// The server is there. What cannot be charged for it is asked for again.
		if halted.reason == v1alpha1.ReasonQuotaExceeded {
			r.event(s, corev1.EventTypeWarning, v1alpha1.ReasonQuotaExceeded, "Charge", halted.message)
		}
		v.again = halted.again
		return v, nil
	}
	if err != nil {
		return v, err
	}
	s.note.settleAt = now.Add(r.timing.Resync)
	v.again = r.timing.Resync
	return v, nil
}
