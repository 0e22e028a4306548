// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/computetest"
	"github.com/unikorn-cloud/instance-apiserver/pkg/quota"
)

// A manifest that is sent back has little metadata, and a client may make up
// what the server fills in. What is changed is paid for all the same.
func TestUpdateIsJudgedAsItWillBeStored(t *testing.T) {
	tests := map[string]func(*compute.Instance){
		"no uid":                  func(instance *compute.Instance) { instance.UID = "" },
		"no creation":             func(instance *compute.Instance) { instance.CreationTimestamp = metav1.Time{} },
		"another creation":        func(instance *compute.Instance) { instance.CreationTimestamp = metav1.Now() },
		"a generation that isn't": func(instance *compute.Instance) { instance.Generation = -1 },
		"no namespace":            func(instance *compute.Instance) { instance.Namespace = "" },
		"a manifest": func(instance *compute.Instance) {
			instance.ObjectMeta = metav1.ObjectMeta{Name: instance.Name, Namespace: instance.Namespace}
		},
	}
	for name, edit := range tests {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, computetest.Existing())
			got, err := d.update(t, func(instance *compute.Instance) {
				enlarge(instance)
				edit(instance)
			})
			if err != nil {
				t.Fatal(err)
			}
			if got.UID != computetest.Existing().UID || !got.CreationTimestamp.Equal(&computetest.Created) {
				t.Errorf("stored as %s of %s", got.UID, got.CreationTimestamp)
			}
			expectCharges(t, d, quota.Charge{Due: true, Principal: person.Principal, Cost: quota.Cost{Servers: 1, GPUs: 2}})
		})
	}
}

// Whatever the trial says, what nobody was asked about is not written.
func TestUncheckedIsNotWritten(t *testing.T) {
	stored, changed := computetest.Existing(), computetest.Existing(enlarge)
	for _, checked := range []bool{false, true} {
		ctx := forWrite(t.Context())
		findingsFrom(ctx).checked = checked
		if err := onlyChecked(rest.ValidateAllObjectFunc)(ctx, changed); apierrors.IsInternalError(err) == checked {
			t.Errorf("create, checked %v: %v", checked, err)
		}
		if err := onlyCheckedChange(rest.ValidateAllObjectUpdateFunc)(ctx, changed, stored); apierrors.IsInternalError(err) == checked {
			t.Errorf("update, checked %v: %v", checked, err)
		}
		if err := onlyCheckedChange(rest.ValidateAllObjectUpdateFunc)(ctx, stored, stored); err != nil {
			t.Errorf("update that changes nothing, checked %v: %v", checked, err)
		}
	}
}

// Apply creates what was there when it began and is gone when it writes.
func TestUpdateThatBecomesACreateIsCheckedAsOne(t *testing.T) {
	d := newDesk(t, computetest.Existing(enlarge))
	d.memory.meanwhile = func(*compute.Instance) { clear(d.memory.objects) }
	applied := computetest.Instance(enlarge, retag)
	_, created, err := d.Update(requestBy(t, ada), applied.Name, rest.DefaultUpdatedObjectInfo(applied),
		rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, true, &metav1.UpdateOptions{})
	if err != nil || !created {
		t.Fatalf("created %v, %v", created, err)
	}
	expectCharges(t, d, quota.Charge{Due: true, Principal: person.Principal, Cost: quota.Cost{Servers: 1, GPUs: 2}})
}
