// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

var _ = Describe("A dry run", func() {
	It("of a create answers as the create would, and makes and charges nothing", func(ctx SpecContext) {
		Expect(Simulator().ForgetRequests(ctx)).To(Succeed())
		answer, err := InAlpha().Create(ctx, NewInstance("web-1"), metav1.CreateOptions{DryRun: DryRun})
		Expect(err).NotTo(HaveOccurred())
		Expect(answer.Spec.Name).To(Equal("web-1"))
		Expect(answer.UID).NotTo(BeEmpty())
		Expect(Get(ctx, "web-1")).To(BeNil())
		Expect(PlatformWrites(ctx)).To(BeEmpty())
		Expect(Charged(ctx)).To(BeEmpty())
	})

	It("of a create is refused as the create would be", func(ctx SpecContext) {
		_, err := InAlpha().Create(ctx, NewInstance("web-1", On(BetaNet)), metav1.CreateOptions{DryRun: DryRun})
		Expect(err).To(BeInvalidAt("spec.networkID"))
	})

	Describe("on what exists", Ordered, ContinueOnFailure, func() {
		var before *v1beta1.Instance
		BeforeAll(func(ctx SpecContext) {
			Create(ctx, "web-1")
			before = AwaitRunning(ctx, "web-1")
			Expect(Simulator().ForgetRequests(ctx)).To(Succeed())
		})
		AfterEach(func(ctx SpecContext) {
			Expect(Get(ctx, "web-1")).To(Equal(before))
			Expect(PlatformWrites(ctx)).To(BeEmpty())
		})

		It("of an update changes and charges nothing", func(ctx SpecContext) {
			changed := before.DeepCopy()
			changed.Spec.Networking.PublicIP = true
			answer, err := InAlpha().Update(ctx, changed, metav1.UpdateOptions{DryRun: DryRun})
			Expect(err).NotTo(HaveOccurred())
			Expect(answer.Spec.Networking.PublicIP).To(BeTrue())
		})

		It("of a patch and of an apply changes nothing", func(ctx SpecContext) {
			patched, err := InAlpha().Patch(ctx, "web-1", types.MergePatchType, []byte(`{"spec":{"paused":true}}`), metav1.PatchOptions{DryRun: DryRun})
			Expect(err).NotTo(HaveOccurred())
			Expect(patched.Spec.Paused).To(BeTrue())
			applied, err := InAlpha().Apply(ctx, Tagged("web-1", "env", "prod"), metav1.ApplyOptions{FieldManager: "e2e", DryRun: DryRun})
			Expect(err).NotTo(HaveOccurred())
			Expect(applied.Spec.Tags).To(HaveLen(1))
		})

		It("of a delete deletes nothing", func(ctx SpecContext) {
			Expect(InAlpha().Delete(ctx, "web-1", metav1.DeleteOptions{DryRun: DryRun})).To(Succeed())
			Expect(InAlpha().DeleteCollection(ctx, metav1.DeleteOptions{DryRun: DryRun}, metav1.ListOptions{})).To(Succeed())
		})

		It("with kubectl leaves everything as it is", func(ctx SpecContext) {
			AsEditor(ctx, "apply", "--dry-run=server", "-f", Example("instance.yaml"))
			AsEditor(ctx, "delete", "inst", "web-1", "--dry-run=server")
		})
	})
})

var _ = Describe("A write", func() {
	It("with a stale resourceVersion is 409 Conflict", func(ctx SpecContext) {
		stale := Create(ctx, "web-1").DeepCopy()
		AsEditor(ctx, "label", "inst", "web-1", "team=blue")
		stale.Spec.Paused = true
		_, err := InAlpha().Update(ctx, stale, metav1.UpdateOptions{})
		Expect(err).To(BeRefused(409, metav1.StatusReasonConflict))
		Expect(err).To(MatchError(ContainSubstring("instances.compute.unikorn-cloud.org \"web-1\"")))
		Expect(Get(ctx, "web-1").Spec.Paused).To(BeFalse())
	})

	It("without a resourceVersion is unconditional", func(ctx SpecContext) {
		wanted := Create(ctx, "web-1").DeepCopy()
		AsEditor(ctx, "label", "inst", "web-1", "team=blue")
		wanted.ResourceVersion, wanted.Spec.Paused = "", true
		updated, err := InAlpha().Update(ctx, wanted, metav1.UpdateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(updated.Spec.Paused).To(BeTrue())
		Expect(updated.Labels).NotTo(HaveKey("team"))
	})

	It("of what does not exist is 404, and creates nothing", func(ctx SpecContext) {
		_, err := InAlpha().Update(ctx, NewInstance("web-1"), metav1.UpdateOptions{})
		Expect(err).To(BeRefused(404, metav1.StatusReasonNotFound))
		Expect(err).To(MatchError(`instances.compute.unikorn-cloud.org "web-1" not found`))
		_, err = InAlpha().Patch(ctx, "web-1", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{})
		Expect(err).To(BeRefused(404, metav1.StatusReasonNotFound))
		Expect(Charged(ctx)).To(BeEmpty())
	})

	It("of unknown fields is refused when it is told to be strict", func(ctx SpecContext) {
		_, err := InAlpha().Patch(ctx, Create(ctx, "web-1").Name, types.MergePatchType,
			[]byte(`{"spec":{"flavour":"large"}}`), metav1.PatchOptions{FieldValidation: metav1.FieldValidationStrict})
		Expect(err).To(MatchError(ContainSubstring(`unknown field "spec.flavour"`)))
	})

	It("is never lost among many at once", func(ctx SpecContext) {
		Create(ctx, "web-1")
		labels := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
		errs := make([]error, len(labels))
		var writers sync.WaitGroup
		for i, label := range labels {
			client := InAlpha()
			writers.Go(func() {
				_, errs[i] = client.Patch(ctx, "web-1", types.MergePatchType,
					[]byte(`{"metadata":{"labels":{"`+label+`":"x"}}}`), metav1.PatchOptions{})
			})
		}
		writers.Wait()
		Expect(errs).To(HaveEach(BeNil()))
		found := Get(ctx, "web-1").Labels
		for _, label := range labels {
			Expect(found).To(HaveKey(label))
		}
	})
})
