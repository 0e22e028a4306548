// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
)

func activeReason(object *v1alpha1.ComputeInstance) string {
	if active := meta.FindStatusCondition(object.Status.Conditions, v1alpha1.ConditionActive); active != nil {
		return active.Reason
	}
	return ""
}

func available(object *v1alpha1.ComputeInstance) metav1.Condition {
	if found := meta.FindStatusCondition(object.Status.Conditions, v1alpha1.ConditionAvailable); found != nil {
		return *found
	}
	return metav1.Condition{}
}

func TestPause(t *testing.T) {
	inWorld(t, func(w *world) {
		object := newInstance()
		object.Spec.Pause = true
		w.apply(object)
		w.eventually("held back", 5*time.Second, func() bool { return w.reason() == v1alpha1.ReasonPaused })
		w.after(time.Hour)
		if got := w.count("CreateServer"); got != 0 {
			t.Error("a server was made")
		}
		w.edit(func(o *v1alpha1.ComputeInstance) { o.Spec.Pause = false })
		w.eventually("running", 10*time.Second, w.running)

		// Paused and as specified is as good as not paused, and still watched.
		w.edit(func(o *v1alpha1.ComputeInstance) { o.Spec.Pause = true })
		w.eventually("in place", 5*time.Second, func() bool { return inPlace(w.get()) })
		w.power()
		w.eventually("stopped", 15*time.Second, func() bool { return activeReason(w.get()) == "Stopped" })

		w.edit(func(o *v1alpha1.ComputeInstance) { o.Spec.UserData = []byte("#!/bin/sh") })
		w.eventually("held back", 5*time.Second, func() bool { return w.reason() == v1alpha1.ReasonPaused })
		w.after(time.Hour)
		if got := w.count("UpdateServer"); got != 0 {
			t.Error("the server was changed")
		}
	})
}

func TestStopOnRequest(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(newInstance())
		w.eventually("running", 10*time.Second, w.running)
		since := available(w.get()).LastTransitionTime
		w.power()
		w.eventually("stopped", 15*time.Second, func() bool { return activeReason(w.get()) == "Stopped" })
		if got := available(w.get()); got.Status != metav1.ConditionTrue || !got.LastTransitionTime.Equal(&since) {
			t.Errorf("Available is %+v", got)
		}
	})
}

func TestVanishedServerIsMadeAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(newInstance())
		w.eventually("running", 10*time.Second, w.running)
		w.set(func() { w.servers[0].deleted, w.servers[0].dying = time.Now(), time.Minute })
		w.eventually("called so", 15*time.Second, func() bool { return w.reason() == v1alpha1.ReasonProvisioning })
		w.after(30 * time.Second)
		if w.reason() != v1alpha1.ReasonProvisioning {
			t.Error(w.describe())
		}
		w.eventually("running", 2*time.Minute, w.running)
	})
}

// A list without the server, be it that region has lost track of who may see
// what, is not taken for its absence.
func TestHiddenServerIsKept(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(newInstance())
		w.eventually("running", 10*time.Second, w.running)
		w.set(func() { w.hidden = true })
		w.after(10 * time.Minute)
		if !w.running() || w.count("CreateServer") != 1 {
			t.Errorf("%s, after %d creates", w.describe(), w.count("CreateServer"))
		}
	})
}

func TestServerInError(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(newInstance())
		w.eventually("made", 5*time.Second, func() bool { return w.count("CreateServer") == 1 })
		w.set(func() { w.servers[0].brokenCreate = true })
		w.eventually("told", 15*time.Second, func() bool { return w.reason() == v1alpha1.ReasonErrored })
		w.after(time.Hour)
		if w.count("UpdateServer") != 0 || w.count("DeleteServer") != 0 {
			t.Error("the server was changed")
		}
		w.set(func() { w.servers[0].brokenCreate = false })
		w.eventually("running", time.Minute, w.running)
	})
}

func TestRefusedSpecIsParked(t *testing.T) {
	for _, op := range []string{"CreateServer", "UpdateServer"} {
		t.Run(op, func(t *testing.T) {
			inWorld(t, func(w *world) {
				object := newInstance()
				if op == "CreateServer" {
					object.Spec.UserData = []byte("bad, and secret")
				}
				w.apply(object)
				if op == "UpdateServer" {
					w.eventually("running", 10*time.Second, w.running)
					w.edit(func(o *v1alpha1.ComputeInstance) { o.Spec.UserData = []byte("bad, and secret") })
				}
				w.eventually("told", 10*time.Second, func() bool { return w.reason() == v1alpha1.ReasonErrored })
				if got := available(w.get()); got.ObservedGeneration != w.get().Generation {
					t.Errorf("Available is of generation %d", got.ObservedGeneration)
				}
				w.after(time.Hour)
				if got := w.count(op); got != 1 {
					t.Errorf("asked %d times", got)
				}
				if text := fmt.Sprint(w.events.events, w.describe()); strings.Contains(text, "secret") {
					t.Errorf("user data shows in %s", text)
				}
				w.edit(func(o *v1alpha1.ComputeInstance) { o.Spec.UserData = []byte("#!/bin/sh") })
				w.eventually("running", 10*time.Second, w.running)
			})
		})
	}
}

func TestOwnerMismatch(t *testing.T) {
	for name, change := range map[string]func(*region.Network){
		"organization": func(n *region.Network) { n.Metadata.OrganizationID = "0b000000-0000-4000-8000-0000000000b0" },
		"project":      func(n *region.Network) { n.Metadata.ProjectID = beta },
		"region":       func(n *region.Network) { n.Status.RegionID = "0c000000-0000-4000-8000-0000000000c1" },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				network := w.networks[alphaNet]
				change(&network)
				w.networks[alphaNet] = network
				w.apply(newInstance())
				w.eventually("told", 5*time.Second, func() bool { return w.reason() == v1alpha1.ReasonOwnerMismatch })
				w.after(time.Hour)
				if w.count("CreateServer") != 0 || w.count("Network") != 1 {
					t.Errorf("calls: %v", w.calls)
				}
			})
		})
	}
}

func TestMissingNetwork(t *testing.T) {
	inWorld(t, func(w *world) {
		network := w.networks[alphaNet]
		delete(w.networks, alphaNet)
		w.apply(newInstance())
		w.eventually("told", 5*time.Second, func() bool { return w.reason() == v1alpha1.ReasonDependencyNotFound })
		w.set(func() { w.networks[alphaNet] = network })
		w.eventually("running", time.Minute, w.running)
	})
}

// A service that does not answer changes nothing about what is in place, and is
// named where something waits for it.
func TestServicesDown(t *testing.T) {
	for _, op := range []string{"NetworkServers", "Allocation"} {
		t.Run(op, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.apply(newInstance())
				w.eventually("running", 10*time.Second, w.running)
				w.set(func() { w.down[op] = true })
				w.after(30 * time.Minute)
				if !w.running() {
					t.Errorf("flapped to %s", w.describe())
				}
				w.edit(func(o *v1alpha1.ComputeInstance) { o.Spec.ImageID = ubuntuGPU })
				w.eventually("told", time.Minute, func() bool { return w.reason() == v1alpha1.ReasonDependencyNotReady })
				if got := available(w.get()).Message; got != "The region service is not available." {
					t.Errorf("message is %q", got)
				}
				w.set(func() { w.down[op] = false })
				w.eventually("running", time.Minute, w.running)
			})
		})
	}
}

// Against a region that does not read back what it was sent, nothing is done
// for ever.
func TestForgetfulRegion(t *testing.T) {
	inWorld(t, func(w *world) {
		w.forgetful = true
		object := newInstance()
		object.Spec.SSHCertificateAuthorityID = "0f000000-0000-4000-8000-0000000000f1"
		w.apply(object)
		w.eventually("given up", 2*time.Minute, func() bool { return w.reason() == v1alpha1.ReasonErrored })
		w.after(time.Hour)
		if got := w.count("DeleteServer"); got != 1 {
			t.Errorf("the server was replaced %d times", got)
		}

		w.edit(func(o *v1alpha1.ComputeInstance) {
			o.Spec.SSHCertificateAuthorityID, o.Spec.UserData = "", []byte("#!/bin/sh")
		})
		w.after(time.Hour)
		if got := w.count("UpdateServer"); got < 2 || got > 70 {
			t.Errorf("the server was changed %d times in an hour", got)
		}
	})
}

// The servers of a network are listed once for all its instances.
func TestOneListForAll(t *testing.T) {
	inWorld(t, func(w *world) {
		const instances = 50
		var names []string
		for i := range instances {
			object := newInstance()
			name := fmt.Sprintf("web-%d", i)
			id, err := ids.InstanceObjectName(alphaNet, name)
			if err != nil {
				t.Fatal(err)
			}
			object.Name, object.UID = string(id), types.UID(id)
			object.Labels[v1alpha1.LabelName], object.Labels[v1alpha1.LabelInstanceName] = name, name
			names = append(names, object.Name)
			w.apply(object)
		}
		w.eventually("all in place", time.Minute, func() bool {
			var list v1alpha1.ComputeInstanceList
			if err := w.cluster.List(w.Context(), &list); err != nil {
				t.Fatal(err)
			}
			for i := range list.Items {
				if !inPlace(&list.Items[i]) || moving(&list.Items[i]) {
					return false
				}
			}
			return len(list.Items) == len(names)
		})
		w.after(time.Minute)
		before, passes := w.count("NetworkServers"), w.count("Server")
		w.after(5 * time.Minute)
		if got := w.count("NetworkServers") - before; got < 25 || got > 35 {
			t.Errorf("%d lists in 5 minutes, want about 30", got)
		}
		if got := w.count("Server") - passes; got != 0 {
			t.Errorf("%d servers were read one by one", got)
		}
	})
}
