// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

// idField is a field with an id, and its path in a complaint.
type idField struct {
	path []string
	list bool
}

func (f idField) String() string {
	if f.list {
		return strings.Join(f.path, ".") + "[0]"
	}
	return strings.Join(f.path, ".")
}

// holding is an object with nothing but the value of the field.
func (f idField) holding(id string) map[string]any {
	var value any = id
	if f.list {
		value = []any{id}
	}
	for i := len(f.path) - 1; i >= 0; i-- {
		value = map[string]any{f.path[i]: value}
	}
	return value.(map[string]any)
}

// put sets the field of an Instance.
func (f idField) put(instance *v1beta1.Instance, id string) {
	GinkgoHelper()
	raw, err := json.Marshal(f.holding(id))
	Expect(err).NotTo(HaveOccurred())
	Expect(json.Unmarshal(raw, instance)).To(Succeed())
}

var idFields = []idField{
	{path: []string{"spec", "organizationID"}},
	{path: []string{"spec", "projectID"}},
	{path: []string{"spec", "networkID"}},
	{path: []string{"spec", "flavorID"}},
	{path: []string{"spec", "imageID"}},
	{path: []string{"spec", "sshCertificateAuthorityID"}},
	{path: []string{"spec", "networking", "securityGroupIDs"}, list: true},
}

// writeVerb sends an Instance with an id in a field.
type writeVerb func(ctx context.Context, field idField, id string) error

func patching(kind types.PatchType, body func(field idField, id string) any) writeVerb {
	return func(ctx context.Context, field idField, id string) error {
		raw, err := json.Marshal(body(field, id))
		Expect(err).NotTo(HaveOccurred())
		options := metav1.PatchOptions{}
		if kind == types.ApplyPatchType {
			options = metav1.PatchOptions{FieldManager: "e2e", Force: ptr.To(true)}
		}
		_, err = InAlpha().Patch(ctx, "web-1", kind, raw, options)
		return err
	}
}

func merging(field idField, id string) any { return field.holding(id) }

func replacing(field idField, id string) any {
	value := any(id)
	if field.list {
		value = []string{id}
	}
	return []any{map[string]any{"op": "add", "path": "/" + strings.Join(field.path, "/"), "value": value}}
}

// applying is a whole Instance as a manager would declare it.
func applying(field idField, id string) any {
	wanted := map[string]any{}
	raw, err := json.Marshal(field.edited(NewInstance("web-1"), id))
	Expect(err).NotTo(HaveOccurred())
	Expect(json.Unmarshal(raw, &wanted)).To(Succeed())
	wanted["apiVersion"], wanted["kind"] = "compute.unikorn-cloud.org/v1beta1", "Instance"
	return wanted
}

func (f idField) edited(instance *v1beta1.Instance, id string) *v1beta1.Instance {
	f.put(instance, id)
	return instance
}

var _ = Describe("A malformed id is 422 with its field", func() {
	updates := map[string]writeVerb{
		"PUT": func(ctx context.Context, field idField, id string) error {
			_, err := InAlpha().Update(ctx, field.edited(Get(ctx, "web-1"), id), metav1.UpdateOptions{})
			return err
		},
		"a merge patch":           patching(types.MergePatchType, merging),
		"a JSON patch":            patching(types.JSONPatchType, replacing),
		"a strategic merge patch": patching(types.StrategicMergePatchType, merging),
		"apply":                   patching(types.ApplyPatchType, applying),
	}
	creates := map[string]writeVerb{
		"POST": func(ctx context.Context, field idField, id string) error {
			_, err := InAlpha().Create(ctx, field.edited(NewInstance("web-1"), id), metav1.CreateOptions{})
			return err
		},
		"apply that creates": patching(types.ApplyPatchType, applying),
	}
	malformed := []string{"net-1", "0D000000-0000-4000-8000-0000000000D1", "0d0000000000400080000000000000d1"}

	check := func(ctx context.Context, verb writeVerb) {
		GinkgoHelper()
		for _, field := range idFields {
			for _, id := range malformed {
				By(fmt.Sprintf("%s: %s", field, id))
				Expect(verb(ctx, field, id)).To(BeInvalidAt(field.String()))
			}
		}
	}

	for _, name := range slices.Sorted(maps.Keys(creates)) {
		verb := creates[name]
		It("in "+name, func(ctx SpecContext) {
			check(ctx, verb)
			Expect(Get(ctx, "web-1")).To(BeNil())
			Expect(Charged(ctx)).To(BeEmpty())
		})
	}

	Describe("for an Instance that exists", Ordered, ContinueOnFailure, func() {
		var before *v1beta1.Instance
		BeforeAll(func(ctx SpecContext) {
			Create(ctx, "web-1")
			before = AwaitRunning(ctx, "web-1")
		})
		for _, name := range slices.Sorted(maps.Keys(updates)) {
			verb := updates[name]
			It("in "+name, func(ctx SpecContext) {
				check(ctx, verb)
				Expect(Get(ctx, "web-1").Spec).To(Equal(before.Spec))
			})
		}
	})

	It("for each of several at once", func(ctx SpecContext) {
		instance := NewInstance("web-1")
		instance.Spec.NetworkID, instance.Spec.FlavorID, instance.Spec.ImageID = "net", "flavor", "image"
		_, err := InAlpha().Create(ctx, instance, metav1.CreateOptions{})
		Expect(err).To(BeInvalidAt("spec.flavorID", "spec.imageID", "spec.networkID"))
	})

	It("as kubectl shows it", func(ctx SpecContext) {
		_, err := Env.Kubectl(ctx, "alpha-editor", "apply", "-f", edited("instance.yaml", string(AlphaNet), "net-1"))
		Expect(err).To(MatchError(And(ContainSubstring("spec.networkID"), ContainSubstring("net-1"), ContainSubstring("is invalid"))))
	})
})
