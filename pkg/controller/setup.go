// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
)

// The wait after a failed pass doubles from the first to the second.
const (
	retryBase = 250 * time.Millisecond
	retryMax  = 30 * time.Second
)

// SetupIndexes makes the indexes that a Reconciler needs of the manager's cache.
func SetupIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	for name, index := range indexes {
		if err := indexer.IndexField(ctx, &v1alpha1.ComputeInstance{}, name, index); err != nil {
			return err
		}
	}
	return nil
}

var indexes = map[string]client.IndexerFunc{
	objectNameIndex: func(object client.Object) []string {
		return []string{object.GetName()}
	},
	instanceNameIndex: func(object client.Object) []string {
		return []string{object.GetLabels()[v1alpha1.LabelInstanceName]}
	},
}

// Changes carries the objects whose server changed from a Poller to the queue.
type Changes chan event.TypedGenericEvent[types.NamespacedName]

// Send is for NewPoller.
func (c Changes) Send(ctx context.Context, key types.NamespacedName) {
	select {
	case c <- event.TypedGenericEvent[types.NamespacedName]{Object: key}:
	case <-ctx.Done():
	}
}

// Setup makes the manager run the reconciler and its poller, with so many
// passes at a time.
func (r *Reconciler) Setup(mgr manager.Manager, changes Changes, workers int) error {
	if err := mgr.Add(r.poller); err != nil {
		return err
	}
	return builder.ControllerManagedBy(mgr).
		Named("instance").
		For(&v1alpha1.ComputeInstance{}, builder.WithPredicates(relevant())).
		WatchesRawSource(source.Channel(changes, handler.TypedEnqueueRequestsFromMapFunc(request))).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: workers,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](retryBase, retryMax),
		}).
		Complete(r)
}

func request(_ context.Context, key types.NamespacedName) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: key}}
}

// relevant leaves out updates that only changed the status, which nobody but
// this controller does.
func relevant() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(update event.UpdateEvent) bool {
			before, after := update.ObjectOld, update.ObjectNew
			return before.GetUID() != after.GetUID() ||
				before.GetGeneration() != after.GetGeneration() ||
				before.GetDeletionTimestamp().IsZero() != after.GetDeletionTimestamp().IsZero() ||
				!maps.Equal(before.GetLabels(), after.GetLabels()) ||
				!maps.Equal(before.GetAnnotations(), after.GetAnnotations()) ||
				!slices.Equal(before.GetFinalizers(), after.GetFinalizers())
		},
	}
}
