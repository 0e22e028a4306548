// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/quota"
)

// The cache of a controller that has just taken over may be behind. Nothing is
// done to a server on account of what is not so any more.
func TestOutdatedCache(t *testing.T) {
	for name, test := range map[string]struct {
		// live is what the API server has, nil if nothing.
		live func(*v1alpha1.ComputeInstance)
		// server says that there is one, which does not match the cached spec.
		server bool
		want   int
	}{
		"current":                       {live: func(*v1alpha1.ComputeInstance) {}, want: 1},
		"current, with server":          {live: func(*v1alpha1.ComputeInstance) {}, server: true, want: 1},
		"gone":                          {},
		"another of the name":           {live: func(o *v1alpha1.ComputeInstance) { o.UID = "other" }},
		"newer spec, without server":    {live: func(o *v1alpha1.ComputeInstance) { o.Generation++ }},
		"newer spec, with server":       {live: func(o *v1alpha1.ComputeInstance) { o.Generation++ }, server: true},
		"relabelled":                    {live: func(o *v1alpha1.ComputeInstance) { o.Labels[v1alpha1.LabelProject] = beta }},
		"being deleted, without server": {live: func(o *v1alpha1.ComputeInstance) { o.DeletionTimestamp = &metav1.Time{Time: time.Now()} }},
		"being deleted, with server":    {live: func(o *v1alpha1.ComputeInstance) { o.DeletionTimestamp = &metav1.Time{Time: time.Now()} }, server: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				platform := newFakePlatform(t)
				cached := newInstance()
				cached.Annotations[v1alpha1.AnnotationAllocationID] = string(platform.charge(web1, quota.Cost{Servers: 1}))
				if test.server {
					platform.plant("web-1", createBody(mustSubject(t, cached)).Metadata.Tags...)
					cached.Spec.ImageID = ubuntuGPU
					<-time.After(time.Minute)
				}
				cache, api := newCluster(t, &faults{}), newCluster(t, &faults{})
				store(t, cache, cached.DeepCopy())
				if test.live != nil {
					live := cached.DeepCopy()
					test.live(live)
					store(t, api, live)
				}
				poller := NewPoller(platform, fakeSigner{}, clock.RealClock{}, DefaultTiming, Changes(nil).Send)
				reconciler := NewReconciler(Config{
					Client: cache, Reader: api, Recorder: &recorder{}, Region: platform, Identity: platform, Signer: fakeSigner{},
					Ledger: platform.ledger, Poller: poller, Clock: clock.RealClock{}, Timing: DefaultTiming,
				})
				_, err := reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "alpha", Name: web1}})
				if err != nil {
					t.Fatal(err)
				}
				if got := platform.count("CreateServer") + platform.count("UpdateServer"); got != test.want {
					t.Errorf("%d changes, want %d", got, test.want)
				}
			})
		})
	}
}

func mustSubject(t *testing.T, object *v1alpha1.ComputeInstance) *subject {
	t.Helper()
	s, err := newSubject(object)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// store creates an object, and deletes it if it is being deleted.
func store(t *testing.T, cluster client.Client, object *v1alpha1.ComputeInstance) {
	t.Helper()
	deleting := object.DeletionTimestamp != nil
	object.DeletionTimestamp = nil
	if err := cluster.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	if deleting {
		if err := cluster.Delete(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
}
