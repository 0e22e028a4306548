// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/computetest"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/tenancy"
)

var (
	person = principal.Caller{Principal: principal.Principal{
		OrganizationID: home.Organization, OrganizationIDs: []ids.OrganizationID{home.Organization},
		ProjectID: home.Project, Type: principal.TypeUser, Actor: "ada@acme.example",
	}}
	operator = principal.Caller{Principal: person.Principal, Platform: true}
)

func gather(t *testing.T, p *platform, caller principal.Caller) (facts, error) {
	t.Helper()
	return gatherForCreate(t.Context(), p, newHomes(), caller, home, ownedSpec())
}

func expectAsked(t *testing.T, p *platform, want ...string) {
	t.Helper()
	slices.Sort(want)
	if diff := cmp.Diff(want, p.asked()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestCreateLooksUpEveryReference(t *testing.T) {
	p := newPlatform()
	got, err := gather(t, p, person)
	if err != nil {
		t.Fatal(err)
	}
	expectAsked(t, p, "Network", "SecurityGroup", "SSHCertificateAuthority", "Flavors", "Images")
	computetest.ExpectCauses(t, got.validate(ownedSpec(), home))
	if got.region != computetest.Region {
		t.Errorf("region %s, want that of the network", got.region)
	}
}

func TestReferencesAreReadWithTheCallersRights(t *testing.T) {
	for name, test := range map[string]struct {
		caller principal.Caller
		want   bool
	}{
		"person":               {person, true},
		"platform's operators": {operator, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlatform()
			if _, err := gather(t, p, test.caller); err != nil {
				t.Fatal(err)
			}
			for i, impersonated := range p.impersonated {
				if impersonated != test.want {
					t.Errorf("%s: impersonated %t, want %t", p.calls[i], impersonated, test.want)
				}
			}
		})
	}
}

func TestNothingToLookUp(t *testing.T) {
	p := newPlatform()
	spec := ownedSpec(func(instance *compute.Instance) {
		instance.Spec.SSHCertificateAuthorityID = ""
		instance.Spec.Networking.SecurityGroupIDs = nil
	})
	got, err := gatherForCreate(t.Context(), p, newHomes(), person, home, spec)
	if err != nil {
		t.Fatal(err)
	}
	expectAsked(t, p, "Network", "Flavors", "Images")
	computetest.ExpectCauses(t, got.validate(spec, home))
}

// No network says which region counts, and a flavor that is in none is wrong
// in any case: the client learns of both at once.
func TestForeignNetworkLooksInEveryRegion(t *testing.T) {
	for name, scope := range map[string]tenancy.Scope{"neighbour": neighbour, "stranger": stranger} {
		t.Run(name, func(t *testing.T) {
			p := newPlatform()
			p.networks[computetest.Network] = network(scope, computetest.Network)
			got, err := gather(t, p, person)
			if err != nil {
				t.Fatal(err)
			}
			expectAsked(t, p, "Network", "SecurityGroup", "SSHCertificateAuthority", "Regions", "Flavors", "Images")
			computetest.ExpectCauses(t, got.validate(ownedSpec(), home), "FieldValueNotFound spec.networkID")
			if got.region != "" {
				t.Errorf("the region of a foreign network is known: %s", got.region)
			}

			p.flavors, p.images = nil, nil
			if got, err = gather(t, p, person); err != nil {
				t.Fatal(err)
			}
			computetest.ExpectCauses(t, got.validate(ownedSpec(), home),
				"FieldValueNotFound spec.networkID", "FieldValueNotFound spec.flavorID", "FieldValueNotFound spec.imageID")
		})
	}
}

func TestNotVisibleIsNoError(t *testing.T) {
	tests := map[string]string{
		"Network":                 "FieldValueNotFound spec.networkID",
		"SecurityGroup":           "FieldValueNotFound spec.networking.securityGroupIDs[0]",
		"SSHCertificateAuthority": "FieldValueNotFound spec.sshCertificateAuthorityID",
		"Flavors":                 "FieldValueNotFound spec.flavorID",
		"Images":                  "FieldValueNotFound spec.imageID",
	}
	for method, cause := range tests {
		for _, status := range []int{http.StatusNotFound, http.StatusForbidden} {
			t.Run(method+" "+http.StatusText(status), func(t *testing.T) {
				p := newPlatform()
				p.failures[method] = notVisible(status, true)
				got, err := gather(t, p, person)
				if err != nil {
					t.Fatal(err)
				}
				computetest.ExpectCauses(t, got.validate(ownedSpec(), home), cause)
			})
		}
	}
}

func TestNoRegionIsVisible(t *testing.T) {
	p := newPlatform()
	p.failures["Network"] = notVisible(http.StatusForbidden, true)
	p.failures["Regions"] = notVisible(http.StatusForbidden, true)
	got, err := gather(t, p, person)
	if err != nil {
		t.Fatal(err)
	}
	computetest.ExpectCauses(t, got.validate(ownedSpec(), home), "FieldValueNotFound spec.networkID")
}

func TestNoAnswerIsAnError(t *testing.T) {
	for _, method := range []string{"Network", "SecurityGroup", "SSHCertificateAuthority", "Flavors", "Images"} {
		for name, failure := range map[string]error{
			"down": errDown,
			// region refuses this service, not the person.
			"forbidden to us": notVisible(http.StatusForbidden, false),
		} {
			t.Run(method+" "+name, func(t *testing.T) {
				p := newPlatform()
				p.failures[method] = failure
				if _, err := gather(t, p, operator); !errors.Is(err, failure) {
					t.Errorf("got %v, want %v", err, failure)
				}
			})
		}
	}
}

func TestMissingListEntries(t *testing.T) {
	p := newPlatform()
	p.flavors, p.images = p.flavors[1:], nil
	got, err := gather(t, p, person)
	if err != nil {
		t.Fatal(err)
	}
	computetest.ExpectCauses(t, got.validate(ownedSpec(), home), "FieldValueNotFound spec.flavorID", "FieldValueNotFound spec.imageID")
}

// The platform of this test answers nobody of a group before all of it are
// there, so calls that wait for one another never end.
func TestLookUpsAreParallel(t *testing.T) {
	first := gate("Network", "SecurityGroup", "SSHCertificateAuthority")
	second := gate("Flavors", "Images")
	p := newPlatform()
	p.arrived = func(ctx context.Context, method string) error {
		return errors.Join(first(ctx, method), second(ctx, method))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := gatherForCreate(ctx, p, newHomes(), person, home, ownedSpec()); err != nil {
		t.Errorf("calls wait for one another: %v", err)
	}
}

func TestRememberedRegionSavesARoundTrip(t *testing.T) {
	p, known := newPlatform(), newHomes()
	if _, err := gatherForCreate(t.Context(), p, known, person, home, ownedSpec()); err != nil {
		t.Fatal(err)
	}
	all := gate("Network", "SecurityGroup", "SSHCertificateAuthority", "Flavors", "Images")
	p.arrived = all
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got, err := gatherForCreate(ctx, p, known, person, home, ownedSpec())
	if err != nil {
		t.Fatalf("calls wait for one another: %v", err)
	}
	computetest.ExpectCauses(t, got.validate(ownedSpec(), home))
	if got.region != computetest.Region {
		t.Errorf("region %s", got.region)
	}
}

// Whoever does not own the network is answered as if it had never been seen,
// also where it was the own one once.
func TestRememberedRegionMakesNoDifference(t *testing.T) {
	known := newHomes()
	known.remember(home, computetest.Network, computetest.Region)
	for name, lose := range map[string]func(*platform){
		"gone":           func(p *platform) { delete(p.networks, computetest.Network) },
		"another's":      func(p *platform) { p.networks[computetest.Network] = network(neighbour, computetest.Network) },
		"not to be seen": func(p *platform) { p.failures["Network"] = notVisible(http.StatusForbidden, true) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlatform()
			lose(p)
			// So a look in the remembered region alone would find other things
			// wrong than a look wherever the caller may look.
			for _, method := range []string{"Regions", "Flavors"} {
				p.failures[method] = notVisible(http.StatusForbidden, true)
			}
			got, err := gatherForCreate(t.Context(), p, known, person, home, ownedSpec())
			if err != nil {
				t.Fatal(err)
			}
			computetest.ExpectCauses(t, got.validate(ownedSpec(), home), "FieldValueNotFound spec.networkID")
			if got.region != "" {
				t.Errorf("the region of a network of somebody else is known: %s", got.region)
			}
		})
	}
	if region := known.of(neighbour, computetest.Network); region != "" {
		t.Errorf("remembered for another owner: %s", region)
	}
}

// gate lets its methods through when every one of them has come.
func gate(methods ...string) func(ctx context.Context, method string) error {
	var here atomic.Int32
	all := make(chan struct{})
	return func(ctx context.Context, method string) error {
		if !slices.Contains(methods, method) {
			return nil
		}
		if int(here.Add(1)) == len(methods) {
			close(all)
		}
		select {
		case <-all:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func TestUpdateLooksUpWhatMayHaveChanged(t *testing.T) {
	attachments := []string{"Network", "SecurityGroup", "SSHCertificateAuthority"}
	sizes := append([]string{"Flavors", "Images"}, attachments...)
	tests := map[string]struct {
		change func(*compute.Instance)
		want   []string
	}{
		"tags":   {func(i *compute.Instance) { i.Spec.Tags = nil }, attachments},
		"flavor": {func(i *compute.Instance) { i.Spec.FlavorID = gpuFlavor }, sizes},
		"image":  {func(i *compute.Instance) { i.Spec.ImageID = otherImage }, sizes},
		"nothing attached": {func(i *compute.Instance) {
			i.Spec.Networking.SecurityGroupIDs = nil
			i.Spec.SSHCertificateAuthorityID = ""
		}, []string{"Network"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := newPlatform()
			spec := ownedSpec(test.change)
			got, err := gatherForUpdate(t.Context(), p, person, home, spec, computetest.Existing())
			if err != nil {
				t.Fatal(err)
			}
			expectAsked(t, p, test.want...)
			computetest.ExpectCauses(t, got.validate(spec, home))
		})
	}
}

func TestUpdateIsForMembersOfTheProject(t *testing.T) {
	for name, hide := range map[string]func(*platform){
		"a network that is not visible": func(p *platform) { delete(p.networks, computetest.Network) },
		"a network that is somebody else's": func(p *platform) {
			p.networks[computetest.Network] = network(neighbour, computetest.Network)
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlatform()
			hide(p)
			_, err := gatherForUpdate(t.Context(), p, person, home, ownedSpec(func(i *compute.Instance) { i.Spec.Paused = true }), computetest.Existing())
			if !apierrors.IsForbidden(err) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestRetiredFlavorBlocksNothing(t *testing.T) {
	tests := map[string]struct {
		change func(*compute.Instance)
		want   []string
	}{
		"other image":              {func(i *compute.Instance) { i.Spec.ImageID = otherImage }, nil},
		"image that is not there":  {func(i *compute.Instance) { i.Spec.ImageID = "4444" }, []string{"FieldValueNotFound spec.imageID"}},
		"flavor that is not there": {func(i *compute.Instance) { i.Spec.FlavorID = "2222" }, []string{"FieldValueNotFound spec.flavorID"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := newPlatform()
			p.flavors = p.flavors[1:]
			spec := ownedSpec(test.change)
			got, err := gatherForUpdate(t.Context(), p, person, home, spec, computetest.Existing())
			if err != nil {
				t.Fatal(err)
			}
			computetest.ExpectCauses(t, got.validate(spec, home), test.want...)
		})
	}
}
