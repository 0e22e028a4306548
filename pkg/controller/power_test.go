// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
)

// request notes on web-1 that a state of power was asked for now, by a clock that
// is ahead.
func (w *world) request(state string, ahead time.Duration) {
	w.Helper()
	object := w.get()
	before := object.DeepCopy()
	object.Annotations[v1alpha1.AnnotationPowerRequested] = v1alpha1.PowerRequest{State: state, Time: time.Now().Add(ahead)}.String()
	if err := w.cluster.Patch(w.Context(), object, client.MergeFrom(before)); err != nil {
		w.Fatal(err)
	}
}

// Who asks for a change of power through Instances need not wait for the next
// list of a network on which nothing moves.
func TestRequestedPowerIsLookedFor(t *testing.T) {
	for name, ahead := range map[string]time.Duration{"at once": 0, "clock behind": -5 * time.Second, "clock ahead": time.Hour} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.apply(newInstance())
				w.eventually("running", 10*time.Second, w.running)
				w.after(time.Hour)
				generation, charges := w.get().Generation, w.count("UpdateAllocation")

				// Reads of the platform still show the machine running.
				w.power()
				w.request("Stopped", ahead)
				w.eventually("stopped", 3*time.Second, func() bool { return activeReason(w.get()) == "Stopped" })

				// It may show the old state once more, but not for ever.
				before := w.count("NetworkServers")
				w.after(time.Minute)
				if got := w.count("NetworkServers") - before; got < 50 || got > 70 {
					t.Errorf("%d lists in the minute after, want about 60", got)
				}
				w.after(time.Minute)
				before = w.count("NetworkServers")
				w.after(5 * time.Minute)
				if got := w.count("NetworkServers") - before; got < 25 || got > 35 {
					t.Errorf("%d lists in 5 minutes, want about 30", got)
				}
				if w.get().Generation != generation || w.count("UpdateServer") != 0 || w.count("UpdateAllocation") != charges {
					t.Errorf("more than looked at: %v", w.calls)
				}
			})
		})
	}
}
