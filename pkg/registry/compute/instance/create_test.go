// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/computetest"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/quota"
	"github.com/unikorn-cloud/instance-apiserver/pkg/tenancy"
)

var errUnbound = &tenancy.UnboundError{Namespace: computetest.Namespace, Reason: "is not bound to a project"}

func TestCreate(t *testing.T) {
	d := newDesk(t)
	got, err := d.create(t, computetest.Instance(func(instance *compute.Instance) {
		instance.Labels = map[string]string{"app": "web"}
		instance.Finalizers = []string{"example.com/mine"}
		instance.Status = compute.InstanceStatus{PowerState: compute.PowerStateRunning, InstanceID: "mine"}
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := computetest.Instance(func(instance *compute.Instance) {
		instance.UID, instance.CreationTimestamp, instance.ResourceVersion = got.UID, got.CreationTimestamp, got.ResourceVersion
		instance.Labels = map[string]string{"app": "web"}
		instance.Annotations = map[string]string{
			v1alpha1.AnnotationCreator:          ada,
			v1alpha1.AnnotationPrincipalCreator: "ada@acme.example",
		}
		instance.Finalizers = []string{v1alpha1.Finalizer, "example.com/mine"}
		instance.Spec.Name = computetest.Name
		instance.Spec.OrganizationID = computetest.Organization
		instance.Spec.ProjectID = computetest.Project
		instance.Status = compute.InstanceStatus{RegionID: computetest.Region, NetworkID: computetest.Network}
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("instance (-want +got):\n%s", diff)
	}
	if len(d.asked) > 0 {
		t.Errorf("asked for the name %v: the write itself collides", d.asked)
	}
	if d.admitted != 1 {
		t.Errorf("admission ran %d times, want once", d.admitted)
	}
}

func TestCreateKeepsTheNameGiven(t *testing.T) {
	got, err := newDesk(t).create(t, computetest.Instance(func(instance *compute.Instance) { instance.Spec.Name = "Web_1.example" }))
	if err != nil {
		t.Fatal(err)
	}
	if got.Spec.Name != "Web_1.example" {
		t.Errorf("name on the network %q", got.Spec.Name)
	}
}

func TestCreateCharges(t *testing.T) {
	tests := map[string]struct {
		edit func(*compute.InstanceSpec)
		want quota.Cost
	}{
		"machine":           {func(*compute.InstanceSpec) {}, quota.Cost{Servers: 1}},
		"public address":    {func(spec *compute.InstanceSpec) { spec.Networking.PublicIP = true }, quota.Cost{Servers: 1, Addresses: 1}},
		"GPUs of the metal": {func(spec *compute.InstanceSpec) { spec.FlavorID = gpuFlavor }, quota.Cost{Servers: 1, GPUs: 2}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			if _, err := d.create(t, computetest.Instance(func(instance *compute.Instance) { test.edit(&instance.Spec) })); err != nil {
				t.Fatal(err)
			}
			expectCharges(t, d, quota.Charge{Due: true, Principal: person.Principal, Cost: test.want})
		})
	}
}

// A fault that the request itself shows is told before anybody is asked, and
// before a word about the namespace.
func TestFormIsJudgedFirst(t *testing.T) {
	for name, unbound := range map[string]error{"bound": nil, "unbound": errUnbound} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.unbound = unbound
			_, err := d.create(t, computetest.Instance(func(instance *compute.Instance) {
				instance.Spec.FlavorID = "small"
				instance.Spec.Networking.AllowedSourceAddresses = []string{"fd00::/8"}
			}))
			if !apierrors.IsInvalid(err) {
				t.Fatalf("got %v, want Invalid", err)
			}
			want := []string{"FieldValueInvalid spec.networking.allowedSourceAddresses[0]", "FieldValueInvalid spec.flavorID"}
			if diff := cmp.Diff(want, statusCauses(t, err)); diff != "" {
				t.Errorf("causes (-want +got):\n%s", diff)
			}
			expectAsked(t, d.platform)
			expectNotWritten(t, d)
		})
	}
}

func TestNamespaceIsJudgedSecond(t *testing.T) {
	d := newDesk(t)
	d.owner, d.unbound = tenancy.Scope{}, errUnbound
	_, err := d.create(t, computetest.Instance(func(instance *compute.Instance) { instance.Spec.FlavorID = "99999999-0000-4000-8000-000000000000" }))
	if !apierrors.IsForbidden(err) {
		t.Fatalf("got %v, want Forbidden", err)
	}
	expectAsked(t, d.platform)
	expectNotWritten(t, d)
}

func TestTenancyWithoutAnswer(t *testing.T) {
	d := newDesk(t)
	d.unbound = errors.New("host is away")
	if _, err := d.create(t, computetest.Instance()); !errors.Is(err, d.unbound) {
		t.Errorf("got %v, want %v", err, d.unbound)
	}
}

func TestCallerUnknownToThePlatform(t *testing.T) {
	d := newDesk(t)
	if _, err := d.createAs(t, "system:node:n1", computetest.Instance()); !apierrors.IsForbidden(err) {
		t.Errorf("got %v, want Forbidden", err)
	}
	expectAsked(t, d.platform)
	expectNotWritten(t, d)
}

func TestWrongReferences(t *testing.T) {
	for name, dryRun := range map[string][]string{"create": nil, "dry run": {metav1.DryRunAll}} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.platform.images = nil
			d.platform.securityGroups[computetest.SecurityGroup] = securityGroup(home, computetest.OtherNetwork)
			_, err := d.create(t, computetest.Instance(func(instance *compute.Instance) {
				instance.Spec.ProjectID = computetest.OtherProject
			}), dryRun...)
			if !apierrors.IsInvalid(err) {
				t.Fatalf("got %v, want Invalid", err)
			}
			want := []string{
				"FieldValueInvalid spec.projectID",
				"FieldValueNotFound spec.imageID",
				"FieldValueNotFound spec.networking.securityGroupIDs[0]",
			}
			if diff := cmp.Diff(want, statusCauses(t, err)); diff != "" {
				t.Errorf("causes (-want +got):\n%s", diff)
			}
			if d.admitted != 0 {
				t.Error("admission saw an instance that is not valid")
			}
			expectNotWritten(t, d)
		})
	}
}

func TestRegionIsDown(t *testing.T) {
	d := newDesk(t)
	d.platform.failures["Images"] = errDown
	if _, err := d.create(t, computetest.Instance()); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("got %v, want ServiceUnavailable", err)
	}
	expectNotWritten(t, d)
}

func TestDryRun(t *testing.T) {
	for name, taken := range map[string]bool{"free": false, "taken": true} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.taken[string(computetest.ObjectName)] = taken
			_, err := d.create(t, computetest.Instance(), metav1.DryRunAll)
			if taken != apierrors.IsAlreadyExists(err) || !taken && err != nil {
				t.Errorf("got %v", err)
			}
			if diff := cmp.Diff([]string{string(computetest.ObjectName)}, d.asked); diff != "" {
				t.Errorf("names asked for (-want +got):\n%s", diff)
			}
			expectNotWritten(t, d)
		})
	}
}

func TestGeneratedNameIsTriedAgainWithoutAsking(t *testing.T) {
	d := newDesk(t)
	d.memory.occupied = 2
	got, err := d.create(t, computetest.Instance(func(instance *compute.Instance) {
		instance.Name, instance.GenerateName = "", "web-"
	}))
	if err != nil {
		t.Fatal(err)
	}
	expectAsked(t, d.platform, "Network", "SecurityGroup", "SSHCertificateAuthority", "Flavors", "Images")
	if got.Spec.Name != got.Name {
		t.Errorf("name on the network %q, want the name %q that was free", got.Spec.Name, got.Name)
	}
}

func TestCreateWarnsOfReservedKeys(t *testing.T) {
	d := newDesk(t)
	got, err := d.create(t, computetest.Instance(func(instance *compute.Instance) {
		instance.Labels = map[string]string{v1alpha1.LabelOrganization: string(computetest.OtherOrganization)}
		instance.Annotations = map[string]string{v1alpha1.AnnotationCreator: "eve"}
		instance.Finalizers = []string{v1alpha1.Finalizer}
	}))
	if err != nil {
		t.Fatal(err)
	}
	if len(d.warnings) != 3 {
		t.Errorf("warnings %q, want one each of label, annotation and finalizer", d.warnings)
	}
	if got.Labels != nil || got.Annotations[v1alpha1.AnnotationCreator] != ada || len(got.Finalizers) != 1 {
		t.Errorf("labels %v, creator %q, finalizers %q", got.Labels, got.Annotations[v1alpha1.AnnotationCreator], got.Finalizers)
	}
}

// No other generated name helps where the name on the network is taken, and
// each attempt would be charged.
func TestTakenNameOnTheNetworkIsTriedOnce(t *testing.T) {
	d := newDesk(t)
	d.memory.collides = true
	_, err := d.create(t, computetest.Instance(func(instance *compute.Instance) {
		instance.Name, instance.GenerateName, instance.Spec.Name = "", "web-", "web-1"
	}))
	if !apierrors.IsAlreadyExists(err) {
		t.Errorf("got %v", err)
	}
	if len(d.memory.charges) != 1 {
		t.Errorf("charged %d times", len(d.memory.charges))
	}
}
