// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/computetest"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
)

func formOnCreate(t *testing.T, edit func(*compute.Instance)) field.ErrorList {
	t.Helper()
	ctx := forWrite(requestBy(t, "ada"))
	return rest.ValidateCreate(ctx, computetest.Existing(edit), newStrategy(newScheme()))
}

func formOnUpdate(t *testing.T, edit func(*compute.Instance)) field.ErrorList {
	t.Helper()
	ctx := forWrite(requestBy(t, "ada"))
	return rest.ValidateUpdate(ctx, computetest.Existing(edit), computetest.Existing(), newStrategy(newScheme()))
}

// idFields sets one id of an instance and says where it is.
var idFields = map[string]func(instance *compute.Instance, id string){
	"spec.organizationID": func(i *compute.Instance, id string) { i.Spec.OrganizationID = ids.OrganizationID(id) },
	"spec.projectID":      func(i *compute.Instance, id string) { i.Spec.ProjectID = ids.ProjectID(id) },
	"spec.networkID":      func(i *compute.Instance, id string) { i.Spec.NetworkID = ids.NetworkID(id) },
	"spec.flavorID":       func(i *compute.Instance, id string) { i.Spec.FlavorID = ids.FlavorID(id) },
	"spec.imageID":        func(i *compute.Instance, id string) { i.Spec.ImageID = ids.ImageID(id) },
	"spec.sshCertificateAuthorityID": func(i *compute.Instance, id string) {
		i.Spec.SSHCertificateAuthorityID = ids.SSHCertificateAuthorityID(id)
	},
	"spec.networking.securityGroupIDs[1]": func(i *compute.Instance, id string) {
		i.Spec.Networking.SecurityGroupIDs = []ids.SecurityGroupID{computetest.SecurityGroup, ids.SecurityGroupID(id)}
	},
}

var scopeFields = map[string]bool{"spec.organizationID": true, "spec.projectID": true, "spec.networkID": true}

func TestMalformedIDIsOneCause(t *testing.T) {
	for path, set := range idFields {
		for _, id := range []string{
			"garbage",
			"0D000000-0000-4000-8000-0000000000D1",
			"{0d000000-0000-4000-8000-0000000000d1}",
			"0d0000000000400080000000000000d1",
		} {
			t.Run(path+"="+id, func(t *testing.T) {
				edit := func(instance *compute.Instance) { set(instance, id) }
				computetest.ExpectCauses(t, formOnCreate(t, edit), "FieldValueInvalid "+path)
				computetest.ExpectCauses(t, formOnUpdate(t, edit), "FieldValueInvalid "+path)
			})
		}
	}
}

func TestScopeIsImmutable(t *testing.T) {
	const other = "0d000000-0000-4000-8000-00000000dead"
	for path, set := range idFields {
		errs := formOnUpdate(t, func(instance *compute.Instance) { set(instance, other) })
		if scopeFields[path] {
			computetest.ExpectCauses(t, errs, "FieldValueInvalid "+path)
		} else {
			computetest.ExpectCauses(t, errs)
		}
	}
	computetest.ExpectCauses(t, formOnUpdate(t, func(instance *compute.Instance) { instance.Spec.Name = "web-2" }), "FieldValueInvalid spec.name")
}

// Metadata that is wrong is told once, and is no fault of ours to be logged.
func TestMetadataOnUpdate(t *testing.T) {
	for path, edit := range map[string]func(*compute.Instance){
		"metadata.name":   func(i *compute.Instance) { i.Name = "web-2" },
		"metadata.uid":    func(i *compute.Instance) { i.UID = "5b8b4f4e-7a32-5a4f-9c5e-000000000002" },
		"metadata.labels": func(i *compute.Instance) { i.Labels["team"] = "a b" },
		"metadata.ownerReferences[0].kind": func(i *compute.Instance) {
			i.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Name: "x", UID: "x"}}
		},
	} {
		logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true)))
		ctx := klog.NewContext(forWrite(requestBy(t, "ada")), logger)
		err := rest.BeforeUpdate(newStrategy(newScheme()), ctx, computetest.Existing(edit), computetest.Existing())
		if causes := statusCauses(t, err); len(causes) != 1 || !strings.HasSuffix(causes[0], " "+path) {
			t.Errorf("%s: causes %q", path, causes)
		}
		if said := logger.GetSink().(ktesting.Underlier).GetBuffer().String(); said != "" {
			t.Errorf("%s: logged %s", path, said)
		}
	}
}

func TestForm(t *testing.T) {
	tests := map[string]struct {
		edit func(*compute.InstanceSpec)
		want []string
	}{
		"right": {edit: func(*compute.InstanceSpec) {}},
		"least": {edit: func(spec *compute.InstanceSpec) {
			*spec = compute.InstanceSpec{NetworkID: spec.NetworkID, FlavorID: spec.FlavorID, ImageID: spec.ImageID}
		}},
		"nothing": {
			edit: func(spec *compute.InstanceSpec) { *spec = compute.InstanceSpec{} },
			want: []string{"FieldValueRequired spec.networkID", "FieldValueRequired spec.flavorID", "FieldValueRequired spec.imageID"},
		},
		"64 groups": {edit: func(spec *compute.InstanceSpec) { spec.Networking.SecurityGroupIDs = groups(64) }},
		"65 groups": {
			edit: func(spec *compute.InstanceSpec) { spec.Networking.SecurityGroupIDs = groups(65) },
			want: []string{"FieldValueTooMany spec.networking.securityGroupIDs"},
		},
		"64 prefixes": {edit: func(spec *compute.InstanceSpec) { spec.Networking.AllowedSourceAddresses = prefixes(64) }},
		"65 prefixes": {
			edit: func(spec *compute.InstanceSpec) { spec.Networking.AllowedSourceAddresses = prefixes(65) },
			want: []string{"FieldValueTooMany spec.networking.allowedSourceAddresses"},
		},
		"64 tags": {edit: func(spec *compute.InstanceSpec) { spec.Tags = tags(64) }},
		"65 tags": {
			edit: func(spec *compute.InstanceSpec) { spec.Tags = tags(65) },
			want: []string{"FieldValueTooMany spec.tags"},
		},
		"a group twice": {
			edit: func(spec *compute.InstanceSpec) {
				spec.Networking.SecurityGroupIDs = append(groups(2), groups(1)...)
			},
			want: []string{"FieldValueDuplicate spec.networking.securityGroupIDs[2]"},
		},
		"a prefix twice": {
			edit: func(spec *compute.InstanceSpec) {
				spec.Networking.AllowedSourceAddresses = append(prefixes(2), prefixes(1)...)
			},
			want: []string{"FieldValueDuplicate spec.networking.allowedSourceAddresses[2]"},
		},
		"a tag twice, with two values": {
			edit: func(spec *compute.InstanceSpec) {
				spec.Tags = append(tags(2), compute.Tag{Name: "tag-0", Value: "other"})
			},
			want: []string{"FieldValueDuplicate spec.tags[2]"},
		},
		"a tag without name": {
			edit: func(spec *compute.InstanceSpec) { spec.Tags = []compute.Tag{{Value: "x"}} },
			want: []string{"FieldValueRequired spec.tags[0].name"},
		},
		"a long tag name": {
			edit: func(spec *compute.InstanceSpec) { spec.Tags = []compute.Tag{{Name: strings.Repeat("x", 254)}} },
			want: []string{"FieldValueTooLong spec.tags[0].name"},
		},
		"a long tag value": {
			edit: func(spec *compute.InstanceSpec) {
				spec.Tags = []compute.Tag{{Name: "x", Value: strings.Repeat("x", 1025)}}
			},
			want: []string{"FieldValueTooLong spec.tags[0].value"},
		},
		"the longest tag": {edit: func(spec *compute.InstanceSpec) {
			spec.Tags = []compute.Tag{{Name: strings.Repeat("x", 253), Value: strings.Repeat("é", 1024)}}
		}},
		"several at once": {
			edit: func(spec *compute.InstanceSpec) {
				spec.FlavorID = "small"
				spec.ImageID = ""
				spec.Networking.AllowedSourceAddresses = []string{"fd00::/8"}
			},
			want: []string{
				"FieldValueInvalid spec.networking.allowedSourceAddresses[0]",
				"FieldValueInvalid spec.flavorID",
				"FieldValueRequired spec.imageID",
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			computetest.ExpectCauses(t, formOnCreate(t, func(instance *compute.Instance) { test.edit(&instance.Spec) }), test.want...)
		})
	}
}

func TestLongNameIsOneCause(t *testing.T) {
	computetest.ExpectCauses(t, formOnCreate(t, func(instance *compute.Instance) { instance.Spec.Name = strings.Repeat("x", 64) }),
		"FieldValueTooLong spec.name")
}

func groups(n int) []ids.SecurityGroupID {
	return numbered(n, func(i int) ids.SecurityGroupID {
		return ids.SecurityGroupID(fmt.Sprintf("0e000000-0000-4000-8000-%012x", i))
	})
}

func prefixes(n int) []string {
	return numbered(n, func(i int) string { return fmt.Sprintf("10.%d.0.0/16", i) })
}

func tags(n int) []compute.Tag {
	return numbered(n, func(i int) compute.Tag { return compute.Tag{Name: fmt.Sprintf("tag-%d", i)} })
}

func numbered[T any](n int, one func(int) T) []T {
	var all []T
	for i := range n {
		all = append(all, one(i))
	}
	return all
}
