// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/quota"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// finish takes down what a deleted object has: the server, then the charge, then
// the finalizer. Pause does not hold it up.
func (r *Reconciler) finish(ctx context.Context, s *subject, incomplete error) (reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(s.object, v1alpha1.Finalizer) {
		r.poller.Leave(s.key())
		return reconcile.Result{}, nil
	}
	if incomplete != nil && !s.untouched() {
		// Its server cannot be looked for. Somebody has to complete the object
		// or take the finalizer off.
		return reconcile.Result{}, r.record(ctx, s, func(p projection) { p.available(malformed(incomplete)) })
	}
	if incomplete == nil {
		shared, err := r.elder(ctx, s)
		if err != nil {
			return reconcile.Result{}, err
		}
		if !shared {
			again, err := r.removeServers(ctx, s)
			if err != nil || again > 0 {
				return reconcile.Result{RequeueAfter: again}, err
			}
		}
	}
	if err := r.release(ctx, s); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, r.letGo(ctx, s)
}

// removeServers asks for the deletion of the instance's servers. It returns when
// to look again, 0 when there is no server and none can come any more.
func (r *Reconciler) removeServers(ctx context.Context, s *subject) (time.Duration, error) {
	r.poller.Follow(s)
	now := r.clock.Now()
	if s.note.deletionSeen.IsZero() {
		s.note.deletionSeen = now
	}
	notBefore := latest(s.note.deletionSeen, now.Add(-r.timing.Moving), s.note.visible())
	if wait := notBefore.Sub(now); wait > 0 {
		return wait, nil
	}
	servers, err := r.standing(ctx, s, notBefore)
	if err != nil {
		return 0, err
	}
	var shown *region.Server
	if len(servers) > 0 {
		shown = servers[0]
	}
	err = r.record(ctx, s, func(p projection) {
		// The last that was seen of it stays: Healthy says that there was one.
		if shown != nil {
			p.server(shown)
		}
		p.available(verdict{reason: v1alpha1.ReasonDeprovisioning, message: "The server is being removed."})
	})
	if err != nil {
		return 0, err
	}
	if len(servers) == 0 {
		return r.confirmAbsence(s), nil
	}
	r.poller.Hurry(s.key(), now.Add(hurry))
	if err := r.deleteServers(ctx, s, servers); err != nil {
		return 0, err
	}
	return yieldDelay, nil
}

// standing are the servers of the instance: those listed with its tag, or else
// the one whose id follows from its name, in case the list lags or the labels
// it was made by have changed.
func (r *Reconciler) standing(ctx context.Context, s *subject, notBefore time.Time) ([]*region.Server, error) {
	listed, err := r.poller.Servers(ctx, s, notBefore)
	if err != nil {
		return nil, err
	}
	if servers := serversOf(listed, s); len(servers) > 0 {
		return servers, nil
	}
	id, err := s.serverID()
	if err != nil {
		return nil, nil //nolint:nilerr // no server can have been made on a network of this id
	}
	server, err := r.region.Server(ctx, r.credential(s), id)
	switch {
	case unikorn.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	case !belongsTo(server, s.id):
		return nil, nil
	}
	return []*region.Server{server}, nil
}

func (r *Reconciler) deleteServers(ctx context.Context, s *subject, servers []*region.Server) error {
	for _, server := range servers {
		s.note.sighted(server)
		if server.Deleting() {
			continue
		}
		err := r.region.DeleteServer(ctx, r.credential(s), server.ID())
		s.note.lastWrite = r.clock.Now()
		if err != nil && !unikorn.IsNotFound(err) {
			return err
		}
		r.event(s, corev1.EventTypeNormal, EventServerDeleted, "Delete", "Removing server "+server.Metadata.ID)
	}
	return nil
}

// confirmAbsence returns when to look again for a server that was not there, 0
// when that is settled.
func (r *Reconciler) confirmAbsence(s *subject) time.Duration {
	now := r.clock.Now()
	if s.note.absentSince.IsZero() {
		s.note.absentSince = now
		return readLag
	}
	if wait := s.note.quiet().Sub(now); wait > 0 {
		return min(wait, yieldDelay)
	}
	return 0
}

// release gives the charge back. There is nothing to give back without one.
func (r *Reconciler) release(ctx context.Context, s *subject) error {
	for _, id := range []ids.AllocationID{s.allocation(), s.note.opened} {
		if id == "" {
			continue
		}
		if err := r.giveBack(ctx, s, id); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reconciler) giveBack(ctx context.Context, s *subject, id ids.AllocationID) error {
	return quota.Release(ctx, r.identity, r.signer.Sign(s.principal), s.principal, id)
}

// letGo takes the finalizer off.
func (r *Reconciler) letGo(ctx context.Context, s *subject) error {
	r.poller.Leave(s.key())
	before := s.object.DeepCopy()
	controllerutil.RemoveFinalizer(s.object, v1alpha1.Finalizer)
	return client.IgnoreNotFound(r.client.Patch(ctx, s.object, locked(before)))
}
