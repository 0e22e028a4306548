// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/quota"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

var _ reconcile.Reconciler = &Reconciler{}

// Config is what a Reconciler works with. All fields are required.
type Config struct {
	// Client reads ComputeInstances from a cache and writes them.
	Client client.Client
	// Reader reads them from the API server itself.
	Reader client.Reader
	// Recorder records events.
	Recorder events.EventRecorder
	// Region and Identity are the platform's services, Signer says to them whom
	// calls are for.
	Region   RegionClient
	Identity AllocationClient
	Signer   Signer
	// Ledger writes charges.
	Ledger quota.Ledger
	// Poller lists servers.
	Poller *Poller
	Clock  clock.Clock
	Timing Timing
}

// Reconciler makes passes over ComputeInstances.
type Reconciler struct {
	client   client.Client
	reader   client.Reader
	recorder events.EventRecorder
	region   RegionClient
	identity AllocationClient
	signer   Signer
	ledger   quota.Ledger
	poller   *Poller
	clock    clock.Clock
	timing   Timing

	flavors *flavorBook
	notes   notes
}

// NewReconciler returns a reconciler. Client must have the indexes of SetupIndexes.
func NewReconciler(config Config) *Reconciler {
	return &Reconciler{
		client:   config.Client,
		reader:   config.Reader,
		recorder: config.Recorder,
		region:   config.Region,
		identity: config.Identity,
		signer:   config.Signer,
		ledger:   config.Ledger,
		poller:   config.Poller,
		clock:    config.Clock,
		timing:   config.Timing,
		flavors:  &flavorBook{lister: config.Region, signer: config.Signer, clock: config.Clock},
	}
}

// Reconcile makes one pass over an object.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	object := &v1alpha1.ComputeInstance{}
	err := r.client.Get(ctx, request.NamespacedName, object)
	if apierrors.IsNotFound(err) {
		r.poller.Leave(request.NamespacedName)
		r.notes.forget(request.NamespacedName)
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	result, err := r.pass(ctx, object)
	if outdated(err) {
		return reconcile.Result{RequeueAfter: staleDelay}, nil
	}
	return result, err
}

// outdated says whether the API server refused a write because the object has
// changed or gone. That is no failure: the watch brings what it has become.
func outdated(err error) bool {
	var platform *unikorn.Error
	return !errors.As(err, &platform) && (apierrors.IsConflict(err) || apierrors.IsNotFound(err))
}

func (r *Reconciler) pass(ctx context.Context, object *v1alpha1.ComputeInstance) (reconcile.Result, error) {
	s, incomplete := newSubject(object)
	now := r.clock.Now()
	// The first comparison of charges after a start is spread over the interval.
	s.note = r.notes.of(object, now, now.Add(rand.N(r.timing.Resync))) //nolint:gosec // nothing depends on its being foreseen
	if object.DeletionTimestamp != nil {
		return r.finish(ctx, s, incomplete)
	}
	if err := r.claim(ctx, s); err != nil {
		return reconcile.Result{}, err
	}
	if incomplete != nil {
		r.poller.Leave(s.key())
		return reconcile.Result{}, r.record(ctx, s, func(p projection) { p.available(malformed(incomplete)) })
	}
	if err := r.dropOpened(ctx, s); err != nil {
		return reconcile.Result{}, err
	}
	return r.keep(ctx, s)
}

// claim adds the finalizer before anything is made that it guards.
func (r *Reconciler) claim(ctx context.Context, s *subject) error {
	before := s.object.DeepCopy()
	if !controllerutil.AddFinalizer(s.object, v1alpha1.Finalizer) {
		return nil
	}
	return r.client.Patch(ctx, s.object, locked(before))
}

func malformed(incomplete error) verdict {
	return verdict{reason: v1alpha1.ReasonErrored, message: bounded("The object is malformed: " + incomplete.Error() + ".")}
}

// keep makes the server match the object and shows what became of it.
func (r *Reconciler) keep(ctx context.Context, s *subject) (reconcile.Result, error) {
	shared, err := r.elder(ctx, s)
	if err != nil {
		return reconcile.Result{}, err
	}
	if shared {
		r.poller.Leave(s.key())
		return r.conclude(ctx, s, nil, verdict{
			reason:  v1alpha1.ReasonNameTaken,
			message: "An older instance has this name on the network.",
			again:   refusalDelay,
		}, nil)
	}
	r.poller.Follow(s)
	now := r.clock.Now()
	notBefore := latest(now.Add(-r.timing.Moving), s.note.visible())
	if wait := notBefore.Sub(now); wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	server, err := r.look(ctx, s, notBefore)
	if err != nil {
		return reconcile.Result{}, errors.Join(err, r.recordTrouble(ctx, s, err))
	}
	server, v, err := r.converge(ctx, s, server)
	return r.conclude(ctx, s, server, v, err)
}

// look finds the server of the instance. The list alone may not say that a
// server that was there has gone: it is also empty where region has lost track
// of who may see what.
func (r *Reconciler) look(ctx context.Context, s *subject, notBefore time.Time) (*region.Server, error) {
	listed, err := r.poller.Servers(ctx, s, notBefore)
	if err != nil {
		return nil, err
	}
	servers := serversOf(listed, s)
	if len(servers) == 0 && meta.FindStatusCondition(s.object.Status.Conditions, v1alpha1.ConditionHealthy) != nil {
		servers, err = r.standing(ctx, s, notBefore)
		if err != nil {
			return nil, err
		}
	}
	if len(servers) == 0 {
		return nil, nil
	}
	s.note.sighted(servers[0])
	return servers[0], nil
}

// recordTrouble shows that the server could not be looked at. What was handed
// over stays handed over.
func (r *Reconciler) recordTrouble(ctx context.Context, s *subject, trouble error) error {
	if inPlace(s.object) {
		return nil
	}
	return r.record(ctx, s, func(p projection) { p.available(troubled(trouble)) })
}

// conclude stores what a pass found and decides when the next one is.
func (r *Reconciler) conclude(ctx context.Context, s *subject, server *region.Server, v verdict, err error) (reconcile.Result, error) {
	recordErr := r.record(ctx, s, func(p projection) {
		p.server(server)
		p.available(v)
	})
	if err := errors.Join(err, recordErr); err != nil {
		return reconcile.Result{}, err
	}
	r.poller.Hurry(s.key(), hurryUntil(s.object, r.clock.Now()))
	return reconcile.Result{RequeueAfter: v.again}, nil
}
