// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/computetest"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/quota"
	"github.com/unikorn-cloud/instance-apiserver/pkg/tenancy"
)

func note(instance *compute.Instance)    { instance.Annotations["note"] = "hello" }
func retag(instance *compute.Instance)   { instance.Spec.Tags[0].Value = "test" }
func enlarge(instance *compute.Instance) { instance.Spec.FlavorID = gpuFlavor }

func TestUpdateThatLeavesSpecAloneAsksNobody(t *testing.T) {
	tests := map[string]func(*compute.Instance){
		"nothing":  func(*compute.Instance) {},
		"metadata": note,
		"what was filled in is left out": func(instance *compute.Instance) {
			instance.Spec.Name, instance.Spec.OrganizationID, instance.Spec.ProjectID = "", "", ""
		},
		"status": func(instance *compute.Instance) { instance.Status.PowerState = compute.PowerStateStopped },
	}
	for name, edit := range tests {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, computetest.Existing())
			// Nobody who might be asked has an answer.
			d.unbound = errors.New("host is away")
			got, err := d.update(t, edit)
			if err != nil {
				t.Fatal(err)
			}
			expectAsked(t, d.platform)
			expectCharges(t, d, quota.Charge{})
			if diff := cmp.Diff(computetest.Existing().Spec, got.Spec); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(computetest.Existing().Status, got.Status); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
			if modifier, set := got.Annotations[v1alpha1.AnnotationModifier]; set {
				t.Errorf("modified by %q", modifier)
			}
		})
	}
}

func TestUpdateCharges(t *testing.T) {
	public := computetest.Existing(func(instance *compute.Instance) { instance.Spec.Networking.PublicIP = true })
	due := func(cost quota.Cost) quota.Charge {
		return quota.Charge{Due: true, Principal: person.Principal, Cost: cost}
	}
	tests := map[string]struct {
		stored *compute.Instance
		edit   func(*compute.Instance)
		want   quota.Charge
	}{
		"tags": {computetest.Existing(), retag, quota.Charge{Principal: person.Principal, Cost: quota.Cost{Servers: 1}}},
		"more GPUs": {
			computetest.Existing(), enlarge, due(quota.Cost{Servers: 1, GPUs: 2}),
		},
		"an address": {
			computetest.Existing(), func(instance *compute.Instance) { instance.Spec.Networking.PublicIP = true },
			due(quota.Cost{Servers: 1, Addresses: 1}),
		},
		"an address less": {
			public, func(*compute.Instance) {}, quota.Charge{Principal: person.Principal, Cost: quota.Cost{Servers: 1}},
		},
		"an address as before": {
			public, func(instance *compute.Instance) {
				instance.Spec.Networking.PublicIP = true
				instance.Spec.Paused = true
			}, quota.Charge{Principal: person.Principal, Cost: quota.Cost{Servers: 1, Addresses: 1}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, test.stored)
			if _, err := d.update(t, test.edit); err != nil {
				t.Fatal(err)
			}
			expectCharges(t, d, test.want)
		})
	}
}

func TestConflictIsJudgedAnew(t *testing.T) {
	d := newDesk(t, computetest.Existing())
	d.memory.meanwhile = enlarge
	if _, err := d.update(t, enlarge); err != nil {
		t.Fatal(err)
	}
	// Somebody else has paid for what this update now leaves alone.
	expectCharges(t, d, quota.Charge{})
}

func TestUpdateOfANamespaceThatMoved(t *testing.T) {
	tests := map[string]func(*desk){
		"to a neighbour":            func(d *desk) { d.owner = neighbour },
		"to a stranger":             func(d *desk) { d.owner = stranger },
		"to nobody":                 func(d *desk) { d.owner, d.unbound = tenancy.Scope{}, errUnbound },
		"to one of two of the same": func(d *desk) { d.unbound = errUnbound },
	}
	for name, move := range tests {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, computetest.Existing())
			move(d)
			if _, err := d.update(t, retag); !apierrors.IsForbidden(err) {
				t.Errorf("got %v, want Forbidden", err)
			}
			expectAsked(t, d.platform)
			expectNotWritten(t, d)

			if _, err := d.update(t, note); err != nil {
				t.Errorf("metadata only: %v", err)
			}
		})
	}
}

// What a write rests on is asked for again right before anything is charged.
func TestNamespaceMovesDuringTheLookUps(t *testing.T) {
	moving := func(stored ...*compute.Instance) *desk {
		d := newDesk(t, stored...)
		d.platform.arrived = func(_ context.Context, method string) error {
			if method == "Images" {
				d.owner = neighbour
			}
			return nil
		}
		return d
	}
	d := moving()
	if _, err := d.create(t, computetest.Instance()); !apierrors.IsForbidden(err) {
		t.Errorf("create: got %v, want Forbidden", err)
	}
	expectNotWritten(t, d)

	d = moving(computetest.Existing())
	if _, err := d.update(t, enlarge); !apierrors.IsForbidden(err) {
		t.Errorf("update: got %v, want Forbidden", err)
	}
	expectNotWritten(t, d)
}

func TestUpdateIsJudgedByItsFormFirst(t *testing.T) {
	tests := map[string]struct {
		edit func(*compute.Instance)
		want string
	}{
		"renamed":       {func(instance *compute.Instance) { instance.Spec.Name = "web-2" }, "FieldValueInvalid spec.name"},
		"other network": {func(instance *compute.Instance) { instance.Spec.NetworkID = computetest.OtherNetwork }, "FieldValueInvalid spec.networkID"},
		"other project": {func(instance *compute.Instance) { instance.Spec.ProjectID = computetest.OtherProject }, "FieldValueInvalid spec.projectID"},
		"malformed":     {func(instance *compute.Instance) { instance.Spec.ImageID = "ubuntu" }, "FieldValueInvalid spec.imageID"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, computetest.Existing())
			d.unbound = errUnbound
			_, err := d.update(t, test.edit)
			if !apierrors.IsInvalid(err) {
				t.Fatalf("got %v, want Invalid", err)
			}
			if diff := cmp.Diff([]string{test.want}, statusCauses(t, err)); diff != "" {
				t.Errorf("causes (-want +got):\n%s", diff)
			}
			expectAsked(t, d.platform)
			expectNotWritten(t, d)
		})
	}
}

func TestUpdateFails(t *testing.T) {
	tests := map[string]struct {
		fault func(*desk)
		is    func(error) bool
	}{
		"group of another network": {func(d *desk) {
			d.platform.securityGroups[computetest.SecurityGroup] = securityGroup(home, computetest.OtherNetwork)
		}, apierrors.IsInvalid},
		"region is down":   {func(d *desk) { d.platform.failures["Flavors"] = errDown }, apierrors.IsServiceUnavailable},
		"host is away":     {func(d *desk) { d.unbound = apierrors.NewTimeoutError("host", 1) }, apierrors.IsTimeout},
		"instance is gone": {func(d *desk) { clear(d.memory.objects) }, apierrors.IsNotFound},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, computetest.Existing())
			test.fault(d)
			if _, err := d.update(t, enlarge); !test.is(err) {
				t.Errorf("got %v", err)
			}
			expectNotWritten(t, d)
		})
	}
}

func TestUpdateDryRun(t *testing.T) {
	d := newDesk(t, computetest.Existing())
	got, err := d.update(t, enlarge, metav1.DryRunAll)
	if err != nil {
		t.Fatal(err)
	}
	if got.Spec.FlavorID != gpuFlavor {
		t.Errorf("answered with flavor %s", got.Spec.FlavorID)
	}
	expectNotWritten(t, d)
}

func TestUpdateKeepsWhatIsReserved(t *testing.T) {
	d := newDesk(t, computetest.Existing())
	got, err := d.update(t, func(instance *compute.Instance) {
		delete(instance.Labels, v1alpha1.LabelRegion)
		instance.Labels[v1alpha1.LabelOrganization] = string(computetest.OtherOrganization)
		instance.Annotations[v1alpha1.AnnotationAllocationID] = "none"
		instance.Finalizers = nil
		instance.Spec.Paused = true
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.warnings) != 3 {
		t.Errorf("warnings %q, want one each of label, annotation and finalizer", d.warnings)
	}
	before := computetest.Existing()
	if diff := cmp.Diff(before.Labels, got.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before.Finalizers, got.Finalizers); diff != "" {
		t.Errorf("finalizers (-want +got):\n%s", diff)
	}
	if got.Annotations[v1alpha1.AnnotationAllocationID] != string(computetest.Allocation) {
		t.Errorf("annotations %v", got.Annotations)
	}
}

func TestModifierIsRecorded(t *testing.T) {
	now := time.Date(2026, time.May, 4, 3, 2, 1, 999, time.FixedZone("", 3600))
	s := newStrategy(newScheme())
	s.clock = clocktesting.NewFakePassiveClock(now)
	ctx := forWrite(requestBy(t, "oidc:bob@acme.example"))
	found := findingsFrom(ctx)
	found.subject, found.caller.Principal.Actor = "oidc:bob@acme.example", "bob@acme.example"

	changed := computetest.Existing(retag)
	s.PrepareForUpdate(ctx, changed, computetest.Existing())
	want := computetest.Existing().Annotations
	want[v1alpha1.AnnotationModifier] = "oidc:bob@acme.example"
	want[v1alpha1.AnnotationPrincipalModifier] = "bob@acme.example"
	want[v1alpha1.AnnotationModifiedTimestamp] = "2026-05-04T02:02:01Z"
	if diff := cmp.Diff(want, changed.Annotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
}
