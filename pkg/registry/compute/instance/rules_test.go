// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"strings"
	"testing"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/computetest"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/tenancy"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

var (
	neighbour = tenancy.Scope{Organization: home.Organization, Project: computetest.OtherProject}
	stranger  = tenancy.Scope{Organization: computetest.OtherOrganization, Project: home.Project}
)

// rightFacts are facts in which every reference of computetest.Instance is right,
// changed by the edits.
func rightFacts(edits ...func(*facts)) *facts {
	f := &facts{
		region:    computetest.Region,
		network:   lookup[region.Network]{asked: true, found: network(home, computetest.Network)},
		flavor:    lookup[region.Flavor]{asked: true, found: flavor(computetest.Flavor)},
		image:     lookup[region.Image]{asked: true, found: image(computetest.Image)},
		authority: lookup[region.SSHCertificateAuthority]{asked: true, found: authority(home)},
		securityGroups: map[ids.SecurityGroupID]lookup[region.SecurityGroup]{
			computetest.SecurityGroup: {asked: true, found: securityGroup(home, computetest.Network)},
		},
	}
	for _, edit := range edits {
		edit(f)
	}
	return f
}

func groupIs(found *region.SecurityGroup) func(*facts) {
	return func(f *facts) {
		f.securityGroups[computetest.SecurityGroup] = lookup[region.SecurityGroup]{asked: true, found: found}
	}
}

func TestReferencesThatAreRight(t *testing.T) {
	computetest.ExpectCauses(t, rightFacts().validate(ownedSpec(), home))
}

// What is missing, hidden or somebody else's must not be told apart.
func TestForeignIsLikeMissing(t *testing.T) {
	tests := map[string]map[string]func(*facts){
		"FieldValueNotFound spec.networkID": {
			"missing":                 func(f *facts) { f.network.found = nil },
			"of another project":      func(f *facts) { f.network.found = network(neighbour, computetest.Network) },
			"of another organization": func(f *facts) { f.network.found = network(stranger, computetest.Network) },
		},
		"FieldValueNotFound spec.sshCertificateAuthorityID": {
			"missing":                 func(f *facts) { f.authority.found = nil },
			"of another project":      func(f *facts) { f.authority.found = authority(neighbour) },
			"of another organization": func(f *facts) { f.authority.found = authority(stranger) },
		},
		"FieldValueNotFound spec.networking.securityGroupIDs[0]": {
			"missing":            groupIs(nil),
			"of another network": groupIs(securityGroup(home, computetest.OtherNetwork)),
			"of another project": groupIs(securityGroup(neighbour, computetest.Network)),
			"of another organization, on another network": groupIs(securityGroup(stranger, computetest.OtherNetwork)),
		},
	}
	for cause, faults := range tests {
		texts := map[string]bool{}
		for name, fault := range faults {
			t.Run(cause+"/"+name, func(t *testing.T) {
				errs := rightFacts(fault).validate(ownedSpec(), home)
				computetest.ExpectCauses(t, errs, cause)
				texts[errs.ToAggregate().Error()] = true
			})
		}
		if len(texts) != 1 {
			t.Errorf("the faults of %s can be told apart: %v", cause, texts)
		}
	}
}

func TestFlavorAndImage(t *testing.T) {
	const onFlavor, onImage = "spec.flavorID", "spec.imageID"
	tests := map[string]struct {
		fault func(*facts)
		want  string
		says  string
	}{
		"unknown flavor":     {func(f *facts) { f.flavor.found = nil }, "FieldValueNotFound " + onFlavor, ""},
		"pinned only":        {func(f *facts) { f.flavor.found.Spec.PinnedOnly = true }, "FieldValueInvalid " + onFlavor, "pinned"},
		"unknown image":      {func(f *facts) { f.image.found = nil }, "FieldValueNotFound " + onImage, ""},
		"other architecture": {func(f *facts) { f.image.found.Spec.Architecture = unikorn.ArchitectureARM }, "FieldValueInvalid " + onImage, "aarch64"},
		"too large":          {func(f *facts) { f.image.found.Spec.SizeGiB = 21 }, "FieldValueInvalid " + onImage, "21"},
		"fits exactly":       {func(f *facts) { f.image.found.Spec.SizeGiB = 20 }, "", ""},
		"metal image":        {func(f *facts) { f.image.found.Spec.Virtualization = region.ImageBaremetal }, "FieldValueInvalid " + onImage, "bare metal"},
		"metal flavor":       {func(f *facts) { f.flavor.found.Spec.Baremetal = true }, "FieldValueInvalid " + onImage, "virtual machines"},
		"both metal": {func(f *facts) {
			f.flavor.found.Spec.Baremetal = true
			f.image.found.Spec.Virtualization = region.ImageBaremetal
		}, "", ""},
		"any image on metal": {func(f *facts) {
			f.flavor.found.Spec.Baremetal = true
			f.image.found.Spec.Virtualization = region.ImageAny
		}, "", ""},
		"any image":       {func(f *facts) { f.image.found.Spec.Virtualization = region.ImageAny }, "", ""},
		"unlabelled":      {func(f *facts) { f.image.found.Spec.Virtualization = "" }, "", ""},
		"not asked":       {func(f *facts) { f.flavor, f.image = lookup[region.Flavor]{}, lookup[region.Image]{} }, "", ""},
		"image asked for": {func(f *facts) { f.flavor = lookup[region.Flavor]{} }, "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			errs := rightFacts(test.fault).validate(ownedSpec(), home)
			if test.want == "" {
				computetest.ExpectCauses(t, errs)
				return
			}
			computetest.ExpectCauses(t, errs, test.want)
			if !strings.Contains(errs[0].Detail, test.says) {
				t.Errorf("%q does not say %q", errs[0].Detail, test.says)
			}
		})
	}
}

func TestSecurityGroupsByPosition(t *testing.T) {
	spec := ownedSpec(func(instance *compute.Instance) {
		instance.Spec.Networking.SecurityGroupIDs = []ids.SecurityGroupID{foreignGroup, computetest.SecurityGroup, foreignGroup}
	})
	errs := rightFacts(func(f *facts) {
		f.securityGroups[foreignGroup] = lookup[region.SecurityGroup]{asked: true}
	}).validate(spec, home)
	computetest.ExpectCauses(t, errs,
		"FieldValueNotFound spec.networking.securityGroupIDs[0]",
		"FieldValueNotFound spec.networking.securityGroupIDs[2]")
}

func TestOwnerMustBeTheNamespaces(t *testing.T) {
	spec := ownedSpec(func(instance *compute.Instance) {
		instance.Spec.OrganizationID = computetest.OtherOrganization
		instance.Spec.ProjectID = computetest.OtherProject
	})
	computetest.ExpectCauses(t, rightFacts().validate(spec, home), "FieldValueInvalid spec.organizationID", "FieldValueInvalid spec.projectID")
}

func TestAllReferenceFaultsAtOnce(t *testing.T) {
	errs := rightFacts(groupIs(nil), func(f *facts) {
		f.network.found = network(neighbour, computetest.Network)
		f.flavor.found.Spec.PinnedOnly = true
		f.image.found.Spec.Architecture = unikorn.ArchitectureARM
		f.image.found.Spec.SizeGiB = 100
		f.authority.found = nil
	}).validate(ownedSpec(func(instance *compute.Instance) { instance.Spec.ProjectID = computetest.OtherProject }), home)
	computetest.ExpectCauses(t, errs,
		"FieldValueInvalid spec.projectID",
		"FieldValueNotFound spec.networkID",
		"FieldValueInvalid spec.flavorID",
		"FieldValueInvalid spec.imageID",
		"FieldValueInvalid spec.imageID",
		"FieldValueNotFound spec.sshCertificateAuthorityID",
		"FieldValueNotFound spec.networking.securityGroupIDs[0]",
	)
}
