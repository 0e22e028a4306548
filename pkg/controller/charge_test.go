// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"
	"testing"
	"time"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/quota"
)

func TestNoServerWithoutQuota(t *testing.T) {
	inWorld(t, func(w *world) {
		object := newInstance()
		object.Spec.FlavorID = gpu8
		// Charged for less than it costs, and no more to be had.
		id := w.charge(web1, quota.Cost{Servers: 1})
		object.Annotations[v1alpha1.AnnotationAllocationID] = string(id)
		w.limits["gpus"] = 0
		w.store(object)
		w.eventually("without quota", 5*time.Second, func() bool { return w.reason() == v1alpha1.ReasonQuotaExceeded })
		w.after(5 * time.Minute)
		if got := w.count("CreateServer"); got != 0 {
			t.Errorf("%d servers were asked for", got)
		}
		if got := w.count("UpdateAllocation"); got < 5 || got > 15 {
			t.Errorf("quota was asked for %d times in 5 minutes", got)
		}
		if got := w.events.count(v1alpha1.ReasonQuotaExceeded); got != 1 {
			t.Errorf("%d events", got)
		}
		if message := w.get().Status.Conditions[0].Message; message != "gpus: total 1 exceeds quota limit 0" {
			t.Errorf("message is %q", message)
		}
		w.set(func() { w.limits["gpus"] = 1 })
		w.eventually("running", time.Minute, w.running)
	})
}

func TestServerStaysWithoutQuota(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(newInstance())
		w.eventually("running", 10*time.Second, w.running)
		w.set(func() { w.limits["gpus"] = 0 })
		w.edit(func(o *v1alpha1.ComputeInstance) { o.Spec.FlavorID = gpu8 })
		w.eventually("without quota", 10*time.Second, func() bool { return w.reason() == v1alpha1.ReasonQuotaExceeded })
		w.after(time.Minute)
		if got := w.count("DeleteServer"); got != 0 {
			t.Error("the server was removed")
		}
		// What it is like is still shown.
		w.power()
		w.eventually("stopped", 15*time.Second, func() bool { return activeReason(w.get()) == "Stopped" })
		// The user thinks better of it.
		w.edit(func(o *v1alpha1.ComputeInstance) { o.Spec.FlavorID = standard4 })
		w.eventually("in place", 5*time.Second, func() bool { return inPlace(w.get()) })
	})
}

// A shrunk instance keeps its charge as long as its server has not shrunk.
func TestPausedKeepsCharge(t *testing.T) {
	inWorld(t, func(w *world) {
		object := newInstance()
		object.Spec.FlavorID = gpu8
		w.apply(object)
		w.eventually("running", 10*time.Second, w.running)
		id := ids.AllocationID(w.get().Annotations[v1alpha1.AnnotationAllocationID])
		w.edit(func(o *v1alpha1.ComputeInstance) { o.Spec.Pause, o.Spec.FlavorID = true, standard4 })
		w.eventually("held back", 5*time.Second, func() bool { return w.reason() == v1alpha1.ReasonPaused })
		w.after(2 * DefaultTiming.Resync)
		if got := w.charged(id); got.GPUs != 1 {
			t.Errorf("charged is %+v", got)
		}
		w.edit(func(o *v1alpha1.ComputeInstance) { o.Spec.Pause = false })
		w.eventually("running", time.Minute, w.running)
		w.eventually("charged for less", 5*time.Second, func() bool { return w.charged(id).GPUs == 0 })
	})
}

// What was charged for a change that was never stored is given back in time.
func TestResyncLowers(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(newInstance())
		w.eventually("running", 10*time.Second, w.running)
		id := ids.AllocationID(w.get().Annotations[v1alpha1.AnnotationAllocationID])
		w.set(func() { w.allocations[id] = w.ledger.Allocation(web1, quota.Cost{Servers: 1, GPUs: 2}).Spec })
		w.eventually("lowered", 2*DefaultTiming.Resync, func() bool { return w.charged(id) == quota.Cost{Servers: 1} })
	})
}

func TestObjectWithoutCharge(t *testing.T) {
	for name, test := range map[string]struct {
		op   string
		kind fault
	}{
		"nothing fails":         {"", ""},
		"the patch fails":       {"Patch", faultDropped},
		"the patch is lost":     {"Patch", faultLost},
		"the charge is refused": {"CreateAllocation", faultRefused},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.faults.arm(test.op, 1, test.kind)
				w.store(newInstance())
				w.eventually("running", time.Minute, w.running)
				if got := len(w.allocations); got != 1 {
					t.Errorf("there are %d charges", got)
				}
				if id := w.get().Annotations[v1alpha1.AnnotationAllocationID]; id != "allocation-1" {
					t.Errorf("stored is %q", id)
				}
				w.remove()
				w.eventually("gone", time.Minute, w.gone)
				if got := w.holding(); got != nothing {
					t.Error(got)
				}
			})
		})
	}
}

func TestLostChargeIsNotRepeated(t *testing.T) {
	inWorld(t, func(w *world) {
		w.faults.arm("CreateAllocation", 1, faultLost)
		w.store(newInstance())
		w.eventually("parked", 10*time.Second, func() bool { return w.reason() == v1alpha1.ReasonErrored })
		w.after(10 * time.Minute)
		if got := w.count("CreateAllocation"); got != 1 {
			t.Errorf("charged %d times", got)
		}
		w.edit(func(*v1alpha1.ComputeInstance) {})
		w.eventually("running", time.Minute, w.running)
	})
}

// An allocation that is not found may be one that does not show yet; one that
// stays away is made again before anything is changed.
func TestVanishedCharge(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(newInstance())
		w.eventually("running", 10*time.Second, w.running)
		w.set(func() { clear(w.allocations) })
		w.edit(func(o *v1alpha1.ComputeInstance) { o.Spec.ImageID = ubuntuGPU })
		w.after(missingLimit / 2)
		if got := w.count("CreateAllocation"); got != 0 {
			t.Error("charged again at once")
		}
		w.eventually("running", time.Minute, w.running)
		if got := w.get().Annotations[v1alpha1.AnnotationAllocationID]; got != "allocation-2" {
			t.Errorf("stored is %q", got)
		}
	})
}

// A flavor that was retired keeps what was charged for it and blocks nothing.
func TestRetiredFlavor(t *testing.T) {
	inWorld(t, func(w *world) {
		object := newInstance()
		object.Spec.FlavorID = gpu8
		w.apply(object)
		w.eventually("running", 10*time.Second, w.running)
		id := ids.AllocationID(w.get().Annotations[v1alpha1.AnnotationAllocationID])
		gpus := w.flavors
		w.after(2 * flavorsFor)
		w.set(func() { w.flavors = w.flavors[:1] })
		w.edit(func(o *v1alpha1.ComputeInstance) {
			o.Spec.Networking = &v1alpha1.ComputeInstanceNetworking{PublicIP: true}
		})
		// The fake prices the server by the list, too.
		w.eventually("running", time.Minute, w.running)
		if got, want := w.charged(id), (quota.Cost{Servers: 1, GPUs: 1, Addresses: 1}); got != want {
			t.Errorf("charged is %+v, want %+v", got, want)
		}
		w.set(func() { w.flavors = gpus })
	})
}

// A new flavor that does not exist costs nobody the server they have.
func TestUnknownFlavor(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(newInstance())
		w.eventually("running", 10*time.Second, w.running)
		w.edit(func(o *v1alpha1.ComputeInstance) { o.Spec.FlavorID = "99999999-9999-9999-9999-999999999999" })
		w.eventually("told", time.Minute, func() bool { return w.reason() == v1alpha1.ReasonDependencyNotFound })
		if got := w.count("DeleteServer"); got != 0 {
			t.Error("the server was removed")
		}
		if message := w.get().Status.Conditions[0].Message; !strings.Contains(message, "flavor") {
			t.Errorf("message is %q", message)
		}
	})
}
