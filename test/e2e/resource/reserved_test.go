// SPDX-License-Identifier: Apache-2.0

package resource

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

var _ = Describe("What belongs to the platform", func() {
	DescribeTable("cannot be changed by a tenant: the edit is ignored with a warning",
		func(ctx SpecContext, patch, warning string) {
			Create(ctx, "web-1")
			before := AwaitRunning(ctx, "web-1")
			client := Hearing(environment.AlphaEditor)
			after, err := client.Patch(ctx, "web-1", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
			Expect(err).NotTo(HaveOccurred())
			Expect(after.Labels).To(Equal(before.Labels))
			Expect(after.Annotations).To(Equal(before.Annotations))
			Expect(after.Finalizers).To(Equal([]string{"unikorn"}))
			Expect(client.Said()).To(ConsistOf(ContainSubstring(warning)))
		},
		Entry("a label", `{"metadata":{"labels":{"unikorn-cloud.org/project":"`+string(world.Beta)+`"}}}`,
			"metadata.labels[unikorn-cloud.org/project]"),
		Entry("a label of a subdomain", `{"metadata":{"labels":{"regions.unikorn-cloud.org/network-id":"`+string(AlphaNet2)+`"}}}`,
			"metadata.labels[regions.unikorn-cloud.org/network-id]"),
		Entry("a new label", `{"metadata":{"labels":{"new.unikorn-cloud.org/label":"x"}}}`,
			"metadata.labels[new.unikorn-cloud.org/label]"),
		Entry("the allocation id", `{"metadata":{"annotations":{"unikorn-cloud.org/allocation-id":"another"}}}`,
			"metadata.annotations[unikorn-cloud.org/allocation-id]"),
		Entry("the creator", `{"metadata":{"annotations":{"unikorn-cloud.org/creator":"another"}}}`,
			"metadata.annotations[unikorn-cloud.org/creator]"),
		Entry("the finalizer unikorn", `{"metadata":{"finalizers":[]}}`, `"unikorn"`),
	)

	It("cannot be removed by a tenant", func(ctx SpecContext) {
		before := Create(ctx, "web-1")
		AsEditor(ctx, "label", "inst", "web-1", "unikorn-cloud.org/project-")
		AsEditor(ctx, "annotate", "inst", "web-1", "unikorn-cloud.org/allocation-id-")
		after := Get(ctx, "web-1")
		Expect(after.Labels).To(Equal(before.Labels))
		Expect(after.Annotations).To(Equal(before.Annotations))
	})

	It("is not taken from a create", func(ctx SpecContext) {
		client := Hearing(environment.AlphaEditor)
		wanted := NewInstance("web-1", Labelled("unikorn-cloud.org/project", string(world.Beta)), Labelled("team", "blue"), Trusting(AlphaAuthority))
		wanted.Annotations = map[string]string{"unikorn-cloud.org/creator": "another", "unikorn-cloud.org/description": "mine"}
		created, err := client.Create(ctx, wanted, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(created.Labels).To(And(HaveKeyWithValue("unikorn-cloud.org/project", string(world.Alpha)), HaveKeyWithValue("team", "blue")))
		Expect(created.Annotations).To(And(
			HaveKeyWithValue("unikorn-cloud.org/creator", environment.AlphaEditor),
			HaveKeyWithValue("unikorn-cloud.org/description", "mine")))
		Expect(client.Said()).To(HaveLen(2))
	})

	It("records who changes the spec, and keeps who created the Instance", func(ctx SpecContext) {
		Create(ctx, "web-1")
		_, err := Instances(environment.AlphaBetaEditor, Alpha).Patch(ctx, "web-1", types.MergePatchType,
			[]byte(`{"spec":{"tags":[{"name":"env","value":"prod"}]}}`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(Get(ctx, "web-1").Annotations).To(And(
			HaveKeyWithValue("unikorn-cloud.org/creator", environment.AlphaEditor),
			HaveKeyWithValue("unikorn-cloud.org/modifier", environment.AlphaBetaEditor),
			HaveKeyWithValue("principal.unikorn-cloud.org/modifier", environment.AlphaBetaEditor),
			HaveKey("unikorn-cloud.org/modifiedTimestamp")))
	})
})

var _ = Describe("The status", func() {
	const forged = `{"status":{"powerState":"Stopped","publicIP":"192.0.2.1"}}`

	It("is the platform's from the start", func(ctx SpecContext) {
		wanted := NewInstance("web-1")
		wanted.Status.PowerState, wanted.Status.PublicIP = v1beta1.PowerStateStopped, "192.0.2.1"
		created, err := InAlpha().Create(ctx, wanted, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(created.Status.PowerState).To(BeEmpty())
		Expect(created.Status.PublicIP).To(BeEmpty())
		Expect(created.Status.Conditions).To(ContainElement(And(
			HaveField("Type", v1beta1.ConditionReady), HaveField("Status", metav1.ConditionFalse))))
	})

	It("cannot be written through the main endpoint", func(ctx SpecContext) {
		Create(ctx, "web-1")
		before := AwaitRunning(ctx, "web-1")
		patched, err := InAlpha().Patch(ctx, "web-1", types.MergePatchType, []byte(forged), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(patched.Status).To(Equal(before.Status))
		changed := before.DeepCopy()
		changed.ResourceVersion, changed.Status.PowerState = "", v1beta1.PowerStateStopped
		updated, err := InAlpha().Update(ctx, changed, metav1.UpdateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(updated.Status).To(Equal(before.Status))
	})

	It("has no endpoint to write it", func(ctx SpecContext) {
		Create(ctx, "web-1")
		before := AwaitRunning(ctx, "web-1")
		_, err := Instances(environment.Admin, Alpha).Patch(ctx, "web-1", types.MergePatchType, []byte(forged), metav1.PatchOptions{}, "status")
		Expect(err).To(MatchError(Or(ContainSubstring("could not find the requested resource"), ContainSubstring("does not allow this method"))))
		Expect(Get(ctx, "web-1").Status).To(Equal(before.Status))
	})
})
