// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"
)

func TestLifecycle(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(newInstance())
		w.eventually("running", 10*time.Second, w.running)
		object := w.get()
		if object.Status.PrivateIP != "10.1.0.4" {
			t.Errorf("status is %+v", object.Status)
		}
		if w.count("CreateServer") != 1 || w.count("CreateAllocation") != 0 || w.count("UpdateAllocation") != 0 {
			t.Errorf("calls: %v", w.calls)
		}
		w.remove()
		w.eventually("gone", 15*time.Second, w.gone)
		if got := w.holding(); got != nothing {
			t.Error(got)
		}
	})
}
