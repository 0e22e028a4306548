// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"testing"
	"time"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/quota"
)

// What must hold whatever fails is checked by fakePlatform at every write: no
// server that is not paid for, no charge given back or lowered below what the
// server costs, never two servers of one instance. This file lets everything
// fail once, everywhere in the life of an instance.

// patience is more than any single fault may cost.
const patience = 3 * time.Minute

// life goes through everything that can be done to an instance: create, change
// in place, replace by something dearer and by something cheaper, delete.
func life(w *world) {
	w.strict = true
	w.apply(newInstance())
	w.eventually("running", patience, w.running)
	id := ids.AllocationID(w.get().Annotations[v1alpha1.AnnotationAllocationID])

	for _, change := range []struct {
		what   string
		flavor ids.FlavorID
		public bool
		cost   quota.Cost
	}{
		{"an address", standard4, true, quota.Cost{Servers: 1, Addresses: 1}},
		{"a GPU instead", gpu8, false, quota.Cost{Servers: 1, GPUs: 1}},
		{"an address instead", standard4, true, quota.Cost{Servers: 1, Addresses: 1}},
		{"neither", standard4, false, quota.Cost{Servers: 1}},
	} {
		w.edit(func(o *v1alpha1.ComputeInstance) {
			o.Spec.FlavorID = change.flavor
			o.Spec.Networking = &v1alpha1.ComputeInstanceNetworking{PublicIP: change.public}
		})
		w.eventually("running with "+change.what, patience, w.running)
		w.eventually("charged for "+change.what, patience, func() bool { return w.charged(id) == change.cost })
	}

	w.remove()
	w.eventually("gone", patience, w.gone)
	w.after(2 * lateness)
	if got := w.holding(); got != nothing {
		w.Errorf("left over: %s", got)
	}
}

func TestSaga(t *testing.T) {
	lost := lostAnswer(t)
	platform := []fault{faultRefused, faultDropped, faultLost, faultCrashBefore, faultCrashAfter}
	for _, test := range []struct {
		op     string
		times  int
		faults []fault
	}{
		{"CreateServer", 3, append(platform, faultLate, faultCrashLate)},
		{"UpdateServer", 1, platform},
		{"DeleteServer", 3, platform},
		{"Allocation", 8, platform},
		{"UpdateAllocation", 3, platform},
		{"DeleteAllocation", 1, platform},
		{"Network", 5, platform},
		{"Flavors", 1, platform},
		{"Server", 4, platform},
		{"NetworkServers", 12, []fault{faultRefused, faultDropped}},
		{"Patch", 1, []fault{faultDropped, faultLost, faultCrashBefore, faultCrashAfter}},
		{"PatchStatus", 16, []fault{faultDropped, faultLost, faultCrashBefore, faultCrashAfter}},
	} {
		for nth := 1; nth <= test.times; nth++ {
			for _, kind := range test.faults {
				t.Run(fmt.Sprintf("%s/%d/%s", test.op, nth, kind), func(t *testing.T) {
					t.Parallel()
					inWorldOf(t, lost, func(w *world) {
						w.faults.arm(test.op, nth, kind)
						life(w)
						if !w.faults.wasHit() {
							t.Errorf("there is no call %d of %s", nth, test.op)
						}
					})
				})
			}
		}
	}
}

// A change that is taken back at once leaves reads that look as if it had never
// been made.
func TestReverted(t *testing.T) {
	lost := lostAnswer(t)
	for step := range 12 {
		for name, change := range map[string]func(*v1alpha1.ComputeInstance){
			"image":  func(o *v1alpha1.ComputeInstance) { o.Spec.ImageID = ubuntuGPU },
			"flavor": func(o *v1alpha1.ComputeInstance) { o.Spec.FlavorID = gpu8 },
		} {
			t.Run(fmt.Sprintf("%s/%d", name, step), func(t *testing.T) {
				t.Parallel()
				inWorldOf(t, lost, func(w *world) {
					w.strict = true
					w.apply(newInstance())
					w.eventually("running", patience, w.running)
					before := w.get().Spec
					w.edit(change)
					w.after(time.Duration(step) * 200 * time.Millisecond)
					w.edit(func(o *v1alpha1.ComputeInstance) { o.Spec = before })
					w.after(10 * time.Second)
					w.eventually("running", patience, w.running)
				})
			})
		}
	}
}

// A deletion may come at any moment of a create, and the controller may die in
// between.
func TestDeleteWhileCreating(t *testing.T) {
	lost := lostAnswer(t)
	for _, kind := range []fault{"", faultLost, faultLate, faultCrashAfter, faultCrashLate} {
		for _, moment := range []time.Duration{0, 50 * time.Millisecond, 500 * time.Millisecond, time.Second, 1500 * time.Millisecond, 2500 * time.Millisecond, 5 * time.Second} {
			t.Run(fmt.Sprintf("%s/%s", kind, moment), func(t *testing.T) {
				t.Parallel()
				inWorldOf(t, lost, func(w *world) {
					w.faults.arm("CreateServer", 1, kind)
					w.apply(newInstance())
					w.after(moment)
					w.remove()
					w.eventually("gone", time.Minute, w.gone)
					w.after(2 * lateness)
					if got := w.holding(); got != nothing {
						w.Errorf("left over: %s", got)
					}
				})
			})
		}
	}
}

// Another controller takes over at any moment.
func TestRestart(t *testing.T) {
	lost := lostAnswer(t)
	for step := range 30 {
		t.Run(fmt.Sprint(step), func(t *testing.T) {
			t.Parallel()
			inWorldOf(t, lost, func(w *world) {
				go func() {
					<-time.After(time.Duration(step) * 700 * time.Millisecond)
					w.restart()
				}()
				life(w)
			})
		})
	}
}
