// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

func TestPauseDoesNotHoldUpDeletion(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(newInstance())
		w.eventually("running", 10*time.Second, w.running)
		w.edit(func(o *v1alpha1.ComputeInstance) { o.Spec.Pause = true })
		w.remove()
		w.eventually("being removed", 5*time.Second, func() bool { return w.reason() == v1alpha1.ReasonDeprovisioning })
		w.eventually("gone", 15*time.Second, w.gone)
		if got := w.holding(); got != nothing {
			t.Error(got)
		}
	})
}

func TestReleaseOfVanishedProject(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(newInstance())
		w.eventually("running", 10*time.Second, w.running)
		w.set(func() { w.projectGone = true })
		w.remove()
		w.eventually("gone", time.Minute, w.gone)
	})
}

func TestNoReleaseWhileIdentityIsBroken(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(newInstance())
		w.eventually("running", 10*time.Second, w.running)
		w.set(func() { w.identityBroken = true })
		w.remove()
		w.after(5 * time.Minute)
		if w.gone() {
			t.Fatal("gone with its charge unreleased")
		}
		w.set(func() { w.identityBroken = false })
		w.eventually("gone", time.Minute, w.gone)
		if got := w.holding(); got != nothing {
			t.Error(got)
		}
	})
}

func TestNoReleaseWhileRegionIsDown(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(newInstance())
		w.eventually("running", 10*time.Second, w.running)
		w.set(func() { w.down["NetworkServers"] = true })
		w.remove()
		w.after(5 * time.Minute)
		if w.gone() || w.count("DeleteAllocation") != 0 {
			t.Fatal("released without a look")
		}
		w.set(func() { w.down["NetworkServers"] = false })
		w.eventually("gone", time.Minute, w.gone)
	})
}

// Lists that show nothing, be it that region has lost track of what may be
// seen, are not taken for the absence of a server.
func TestHiddenServerIsRemoved(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(newInstance())
		w.eventually("running", 10*time.Second, w.running)
		w.set(func() { w.hidden = true })
		w.remove()
		w.eventually("gone", time.Minute, w.gone)
		if got := w.holding(); got != nothing {
			t.Error(got)
		}
	})
}

func TestEveryServerOfTheInstanceIsRemoved(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(newInstance())
		w.eventually("running", 10*time.Second, w.running)
		w.plant("another", unikorn.Tag{Name: region.InstanceTag, Value: web1})
		w.plant("foreign")
		w.remove()
		w.eventually("gone", time.Minute, w.gone)
		if got := len(w.standing()); got != 1 {
			t.Errorf("%d servers are left, want the foreign one", got)
		}
	})
}

func TestMalformedObjects(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*v1alpha1.ComputeInstance)
		let    bool
	}{
		"nothing known": {
			change: func(o *v1alpha1.ComputeInstance) { o.Labels, o.Annotations = nil, nil },
			let:    true,
		},
		"no network": {
			change: func(o *v1alpha1.ComputeInstance) { delete(o.Labels, v1alpha1.LabelNetwork) },
		},
		"a charge and nothing else": {
			change: func(o *v1alpha1.ComputeInstance) {
				o.Labels = nil
				o.Annotations = map[string]string{v1alpha1.AnnotationAllocationID: "a"}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				object := newInstance()
				test.change(object)
				w.store(object)
				w.eventually("told", 5*time.Second, func() bool { return w.reason() == v1alpha1.ReasonErrored })
				w.after(time.Hour)
				if got := w.count("NetworkServers") + w.count("CreateServer"); got != 0 {
					t.Errorf("region was called %d times", got)
				}
				w.remove()
				w.after(time.Hour)
				if w.gone() != test.let {
					t.Errorf("gone is %v", w.gone())
				}
			})
		})
	}
}

func TestFinalizerIsAdded(t *testing.T) {
	inWorld(t, func(w *world) {
		object := newInstance()
		object.Finalizers = nil
		w.apply(object)
		w.eventually("running", 10*time.Second, w.running)
		if got := w.get().Finalizers; len(got) != 1 || got[0] != v1alpha1.Finalizer {
			t.Errorf("finalizers are %v", got)
		}
	})
}

// Objects that are held by others only are none of the controller's business.
func TestFinalizersOfOthers(t *testing.T) {
	inWorld(t, func(w *world) {
		object := newInstance()
		object.Finalizers = append(object.Finalizers, "example.com/other")
		w.apply(object)
		w.eventually("running", 10*time.Second, w.running)
		w.remove()
		w.eventually("released", time.Minute, func() bool { return w.holding() == nothing })
		w.eventually("let go", 5*time.Second, func() bool {
			finalizers := w.get().Finalizers
			return len(finalizers) == 1 && finalizers[0] == "example.com/other"
		})
		calls := w.count("NetworkServers")
		w.after(time.Hour)
		if got := w.count("NetworkServers"); got > calls+1 {
			t.Errorf("%d more lists", got-calls)
		}
	})
}
