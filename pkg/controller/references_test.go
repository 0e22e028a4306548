// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"
	"testing"
	"time"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
)

const (
	group     = "0e000000-0000-4000-8000-0000000000e1"
	authority = "0f000000-0000-4000-8000-0000000000f1"
)

// referring is an instance that refers to all there is.
func referring() *v1alpha1.ComputeInstance {
	object := newInstance()
	object.Spec.SSHCertificateAuthorityID = authority
	object.Spec.Networking = &v1alpha1.ComputeInstanceNetworking{SecurityGroupIDs: []ids.SecurityGroupID{group}}
	return object
}

var vanishing = map[string]struct{ vanish, appear func(w *world) }{
	"image": {
		vanish: func(w *world) {
			w.images = slices.DeleteFunc(w.images, func(id ids.ImageID) bool { return id == ubuntu })
		},
		appear: func(w *world) { w.images = append(w.images, ubuntu) },
	},
	"authority": {
		vanish: func(w *world) { w.missing[authority] = true },
		appear: func(w *world) { delete(w.missing, authority) },
	},
	"security group": {
		vanish: func(w *world) { w.missing[group] = true },
		appear: func(w *world) { delete(w.missing, group) },
	},
}

// The region does not say why it makes no server of what does not exist: it
// drops the connection, as it does when it is down.
func TestMissingReferenceIsFoundOut(t *testing.T) {
	for name, reference := range vanishing {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.set(func() { reference.vanish(w) })
				w.apply(referring())
				w.eventually("told", 15*time.Second, func() bool { return w.reason() == v1alpha1.ReasonDependencyNotFound })
				asked := w.count("CreateServer")
				w.after(time.Hour)
				if got := w.count("CreateServer"); got != asked {
					t.Errorf("asked %d times more", got-asked)
				}
				w.set(func() { reference.appear(w) })
				w.eventually("running", time.Minute, w.running)
			})
		})
	}
}

func TestServerIsNotReplacedByWhatCannotBeMade(t *testing.T) {
	for name, reference := range vanishing {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.apply(referring())
				w.eventually("running", 15*time.Second, w.running)
				w.set(func() { reference.vanish(w) })
				w.edit(func(o *v1alpha1.ComputeInstance) { o.Spec.FlavorID = gpu8 })
				w.eventually("told", 15*time.Second, func() bool { return w.reason() == v1alpha1.ReasonDependencyNotFound })
				w.after(time.Hour)
				if got := w.count("DeleteServer"); got != 0 {
					t.Errorf("%d servers were removed", got)
				}
			})
		})
	}
}

func TestRebuildFromMissingImage(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(newInstance())
		w.eventually("running", 15*time.Second, w.running)
		w.edit(func(o *v1alpha1.ComputeInstance) { o.Spec.ImageID = "30000000-0000-4000-8000-000000000000" })
		w.eventually("told", 15*time.Second, func() bool { return w.reason() == v1alpha1.ReasonDependencyNotFound })
		w.edit(func(o *v1alpha1.ComputeInstance) { o.Spec.ImageID = ubuntuGPU })
		w.eventually("running", time.Minute, w.running)
	})
}

// While nothing is in doubt, nobody is asked.
func TestReferencesAreNotLookedForWithoutReason(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(referring())
		w.eventually("running", 15*time.Second, w.running)
		if got := w.count("Images") + w.count("SecurityGroup") + w.count("SSHCertificateAuthority"); got != 0 {
			t.Errorf("asked %d times", got)
		}
	})
}
