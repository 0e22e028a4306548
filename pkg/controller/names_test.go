// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

func TestForeignServerIsNotAdopted(t *testing.T) {
	for name, tags := range map[string][]unikorn.Tag{
		"without tag":              nil,
		"tag of another instance":  {{Name: region.InstanceTag, Value: "c0000000-0000-4000-8000-000000000000"}},
		"another tag of this name": {{Name: "instance-id", Value: web1}},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.plant("web-1", tags...)
				w.apply(newInstance())
				w.eventually("told", 15*time.Second, func() bool { return w.reason() == v1alpha1.ReasonNameTaken })
				asked := w.count("CreateServer")
				w.after(time.Hour)
				if got := w.count("CreateServer"); got != asked {
					t.Errorf("asked %d times more", got-asked)
				}
				if object := w.get(); object.Status.PrivateIP != "" || len(object.Status.Conditions) != 1 {
					t.Errorf("status of the foreign server: %+v", object.Status)
				}
				if got := w.events.count(v1alpha1.ReasonNameTaken); got != 1 {
					t.Errorf("%d events", got)
				}
				w.remove()
				w.eventually("gone", time.Minute, w.gone)
				if w.count("DeleteServer") != 0 || len(w.allocations) != 0 {
					t.Error("the foreign server was removed, or the charge was not")
				}
			})
		})
	}
}

func TestOwnServerIsAdopted(t *testing.T) {
	inWorld(t, func(w *world) {
		w.set(func() { w.hidden = true })
		w.plant("web-1", unikorn.Tag{Name: region.InstanceTag, Value: web1})
		w.apply(newInstance())
		w.eventually("adopted", 10*time.Second, func() bool { return w.events.count(EventServerAdopted) == 1 })
		w.set(func() { w.hidden = false })
		w.eventually("running", 10*time.Second, w.running)
		if got := len(w.servers); got != 1 {
			t.Errorf("there were %d servers", got)
		}
	})
}

func TestWaitsForDyingPredecessor(t *testing.T) {
	inWorld(t, func(w *world) {
		predecessor := w.plant("web-1")
		w.set(func() { predecessor.deleted, predecessor.dying = time.Now(), 20*time.Second })
		w.apply(newInstance())
		w.eventually("running", time.Minute, w.running)
		if got := w.events.count(v1alpha1.ReasonNameTaken); got != 0 {
			t.Error("the name was called taken")
		}
	})
}

// Two objects of one name in two namespaces would share a server: it is the
// older one's until that is gone.
func TestElder(t *testing.T) {
	inWorld(t, func(w *world) {
		elder := newInstance()
		elder.Namespace, elder.UID = "unikorn-compute", "00000000-0000-4000-8000-000000000001"
		w.apply(elder)
		key := types.NamespacedName{Namespace: elder.Namespace, Name: elder.Name}
		w.eventually("elder running", 10*time.Second, func() bool {
			return w.cluster.Get(w.Context(), key, elder) == nil && inPlace(elder)
		})
		younger := newInstance()
		younger.Spec.FlavorID = gpu8
		w.apply(younger)
		w.eventually("held", 5*time.Second, func() bool { return w.reason() == v1alpha1.ReasonNameTaken })
		w.after(time.Minute)
		if w.count("DeleteServer") != 0 || w.count("UpdateServer") != 0 {
			t.Fatal("the elder's server was touched")
		}

		w.remove()
		w.eventually("the younger let go", 5*time.Second, func() bool {
			return w.cluster.Get(w.Context(), types.NamespacedName{Namespace: "alpha", Name: web1}, &v1alpha1.ComputeInstance{}) != nil
		})
		if w.count("DeleteServer") != 0 || len(w.allocations) != 1 {
			t.Fatal("the elder's server was removed, or the younger's charge was not")
		}

		younger = newInstance()
		w.apply(younger)
		if err := w.cluster.Delete(w.Context(), elder); err != nil {
			t.Fatal(err)
		}
		w.eventually("the younger running", 2*time.Minute, w.running)
	})
}

// Two objects of one visible name: the API server withdraws the later one. No
// server is made for either as long as it may.
func TestNamesake(t *testing.T) {
	inWorld(t, func(w *world) {
		first := newInstance()
		first.Name, first.UID = "c0000000-0000-4000-8000-000000000000", "00000000-0000-4000-8000-000000000001"
		first.Labels[v1alpha1.LabelName] = "other"
		first.Spec.Pause = true
		w.apply(first)
		w.after(2 * time.Second)
		w.apply(newInstance())
		w.after(5 * time.Second)
		if w.reason() != v1alpha1.ReasonProvisioning || w.count("CreateServer") != 0 {
			t.Errorf("reason is %s after %d creates", w.reason(), w.count("CreateServer"))
		}
		w.eventually("told", withdrawal, func() bool { return w.reason() == v1alpha1.ReasonNameTaken })
		if err := w.cluster.Delete(w.Context(), first); err != nil {
			t.Fatal(err)
		}
		w.eventually("running", time.Minute, w.running)
	})
}
