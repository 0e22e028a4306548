// SPDX-License-Identifier: Apache-2.0

package computeinstance_test

import (
	"encoding/json"
	"maps"
	"math/rand"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/randfill"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/computetest"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/fuzzer"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/storage/computeinstance"
)

var mapper computeinstance.Mapper

func TestSpecSurvivesStorage(t *testing.T) {
	seed := rand.Int63()
	t.Logf("seed %d", seed)
	filler := randfill.NewWithSeed(seed).NilChance(0.3).Funcs(fuzzer.Funcs(serializer.CodecFactory{})...)
	for range 500 {
		var want compute.Instance
		filler.Fill(&want.Spec)
		filler.Fill(&want.Status.RegionID)

		sent := mapper.NewResource()
		if err := mapper.ToCR(want.DeepCopy(), sent); err != nil {
			t.Fatal(err)
		}
		kept := mapper.NewResource()
		onTheWire, err := json.Marshal(sent)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(onTheWire, kept); err != nil {
			t.Fatal(err)
		}

		got := mapper.NewObject()
		if corruption := mapper.ToObject(kept, got); corruption != nil {
			t.Fatalf("corrupt: %v", corruption)
		}
		if !equality.Semantic.DeepEqual(want.Spec, got.Spec) {
			t.Fatalf("spec (-want +got):\n%s", cmp.Diff(want.Spec, got.Spec))
		}
		if want.Status.RegionID != got.Status.RegionID {
			t.Fatalf("region %s, want %s", got.Status.RegionID, want.Status.RegionID)
		}
	}
}

// toCR is what an instance makes of what is there.
func toCR(t *testing.T, instance *compute.Instance, there *v1alpha1.ComputeInstance) *v1alpha1.ComputeInstance {
	t.Helper()
	if err := mapper.ToCR(instance, there); err != nil {
		t.Fatal(err)
	}
	return there
}

func TestLabelsOfANewObject(t *testing.T) {
	there := mapper.NewResource()
	there.Labels = map[string]string{"team": "blue"}
	got := toCR(t, computetest.Existing(), there).Labels
	want := maps.Clone(computetest.Stored().Labels)
	// The name in the namespace is the storage's to set, not the mapper's.
	delete(want, v1alpha1.LabelInstanceName)
	want["team"] = "blue"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
}

func TestUpdateKeepsWhatItDoesNotSay(t *testing.T) {
	replicas := 3
	there := computetest.Stored(func(stored *v1alpha1.ComputeInstance) {
		stored.Spec.Replicas = &replicas
		stored.Labels[v1alpha1.LabelProject] = "0a000000-0000-4000-8000-00000000dead"
	})
	want := there.DeepCopy()
	want.Spec.FlavorID = "22222222-2222-2222-2222-222222222222"

	got := toCR(t, computetest.Existing(func(instance *compute.Instance) {
		instance.Spec.FlavorID = want.Spec.FlavorID
		instance.Status.RegionID = "0c000000-0000-4000-8000-00000000dead"
	}), there)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stored object (-want +got):\n%s", diff)
	}
}

func TestUpdateTakesAway(t *testing.T) {
	got := toCR(t, computetest.Existing(func(instance *compute.Instance) {
		instance.Spec.SSHCertificateAuthorityID = ""
		instance.Spec.Networking = compute.InstanceNetworking{}
		instance.Spec.UserData = nil
		instance.Spec.Tags = nil
	}), computetest.Stored()).Spec
	want := v1alpha1.ComputeInstanceSpec{FlavorID: computetest.Flavor, ImageID: computetest.Image}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
}

func TestObjectName(t *testing.T) {
	got, err := mapper.CRName(computetest.Existing())
	if err != nil {
		t.Fatal(err)
	}
	if want := "fec34c20-b989-5630-b619-2587bf28a979"; got != want {
		t.Errorf("object name %s, want %s", got, want)
	}
}

func TestObjectNameOfAMalformedNetwork(t *testing.T) {
	_, err := mapper.CRName(computetest.Existing(func(instance *compute.Instance) { instance.Spec.NetworkID = "net-1" }))
	if !apierrors.IsInvalid(err) {
		t.Errorf("got %v, want Invalid", err)
	}
}

func TestCorruption(t *testing.T) {
	label := func(key, value string) edit {
		return func(stored *v1alpha1.ComputeInstance) { stored.Labels[key] = value }
	}
	tests := map[string]struct {
		stored edit
		field  string
	}{
		"flavor":         {func(s *v1alpha1.ComputeInstance) { s.Spec.FlavorID = "small" }, "spec.flavorId"},
		"no flavor":      {func(s *v1alpha1.ComputeInstance) { s.Spec.FlavorID = "" }, "spec.flavorId"},
		"image":          {func(s *v1alpha1.ComputeInstance) { s.Spec.ImageID = "ubuntu" }, "spec.imageId"},
		"image dressed":  {func(s *v1alpha1.ComputeInstance) { s.Spec.ImageID = "{" + computetest.Image + "}" }, "spec.imageId"},
		"authority":      {func(s *v1alpha1.ComputeInstance) { s.Spec.SSHCertificateAuthorityID = "ca" }, "spec.sshCertificateAuthorityId"},
		"no authority":   {func(s *v1alpha1.ComputeInstance) { s.Spec.SSHCertificateAuthorityID = "" }, ""},
		"organization":   {label(v1alpha1.LabelOrganization, "acme"), "metadata.labels[unikorn-cloud.org/organization]"},
		"project":        {label(v1alpha1.LabelProject, "alpha"), "metadata.labels[unikorn-cloud.org/project]"},
		"network":        {label(v1alpha1.LabelNetwork, "net"), "metadata.labels[regions.unikorn-cloud.org/network-id]"},
		"no labels":      {func(s *v1alpha1.ComputeInstance) { s.Labels = nil }, "metadata.labels[unikorn-cloud.org/organization]"},
		"region":         {label(v1alpha1.LabelRegion, "north"), ""},
		"principal":      {label(v1alpha1.LabelPrincipalProject, "alpha"), ""},
		"security group": {func(s *v1alpha1.ComputeInstance) { s.Spec.Networking.SecurityGroupIDs[0] = "web" }, ""},
		"own name":       {func(s *v1alpha1.ComputeInstance) { s.Name = "not-derived" }, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			stored := computetest.Stored(test.stored)
			instance := mapper.NewObject()
			corruption := mapper.ToObject(stored, instance)
			switch {
			case corruption == nil && test.field == "":
			case corruption == nil:
				t.Errorf("sound, want corruption of %s", test.field)
			case corruption.Field != test.field:
				t.Errorf("corruption of %q, want of %q", corruption.Field, test.field)
			}
			if want := ids.NetworkID(stored.Labels[v1alpha1.LabelNetwork]); instance.Spec.NetworkID != want {
				t.Errorf("network %q is not shown as it is: %q", want, instance.Spec.NetworkID)
			}
		})
	}
}
