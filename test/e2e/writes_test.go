// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"net/http"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
)

var dryRun = []string{metav1.DryRunAll}

// platformWrites are the requests that the platform's services were sent since
// they were forgotten and that could have changed something.
func platformWrites(ctx context.Context) []string {
	GinkgoHelper()
	requests, err := simulator().Requests(ctx)
	Expect(err).NotTo(HaveOccurred())
	var writes []string
	for _, request := range requests {
		if request.Method != http.MethodGet {
			writes = append(writes, request.Service+" "+request.Method+" "+request.Path)
		}
	}
	return writes
}

var _ = Describe("A dry run", func() {
	It("of a create answers as the create would, and makes and charges nothing", func(ctx SpecContext) {
		Expect(simulator().ForgetRequests(ctx)).To(Succeed())
		answer, err := inAlpha().Create(ctx, newInstance("web-1"), metav1.CreateOptions{DryRun: dryRun})
		Expect(err).NotTo(HaveOccurred())
		Expect(answer.Spec.Name).To(Equal("web-1"))
		Expect(answer.UID).NotTo(BeEmpty())
		Expect(get(ctx, "web-1")).To(BeNil())
		Expect(platformWrites(ctx)).To(BeEmpty())
		Expect(charged(ctx)).To(BeEmpty())
	})

	It("of a create is refused as the create would be", func(ctx SpecContext) {
		_, err := inAlpha().Create(ctx, newInstance("web-1", on(betaNet)), metav1.CreateOptions{DryRun: dryRun})
		Expect(err).To(beInvalidAt("spec.networkID"))
	})

	Describe("on what exists", Ordered, ContinueOnFailure, func() {
		var before *v1beta1.Instance
		BeforeAll(func(ctx SpecContext) {
			create(ctx, "web-1")
			before = awaitRunning(ctx, "web-1")
			Expect(simulator().ForgetRequests(ctx)).To(Succeed())
		})
		AfterEach(func(ctx SpecContext) {
			Expect(get(ctx, "web-1")).To(Equal(before))
			Expect(platformWrites(ctx)).To(BeEmpty())
		})

		It("of an update changes and charges nothing", func(ctx SpecContext) {
			changed := before.DeepCopy()
			changed.Spec.Networking.PublicIP = true
			answer, err := inAlpha().Update(ctx, changed, metav1.UpdateOptions{DryRun: dryRun})
			Expect(err).NotTo(HaveOccurred())
			Expect(answer.Spec.Networking.PublicIP).To(BeTrue())
		})

		It("of a patch and of an apply changes nothing", func(ctx SpecContext) {
			patched, err := inAlpha().Patch(ctx, "web-1", types.MergePatchType, []byte(`{"spec":{"paused":true}}`), metav1.PatchOptions{DryRun: dryRun})
			Expect(err).NotTo(HaveOccurred())
			Expect(patched.Spec.Paused).To(BeTrue())
			applied, err := inAlpha().Apply(ctx, tagged("web-1", "env", "prod"), metav1.ApplyOptions{FieldManager: "e2e", DryRun: dryRun})
			Expect(err).NotTo(HaveOccurred())
			Expect(applied.Spec.Tags).To(HaveLen(1))
		})

		It("of a delete deletes nothing", func(ctx SpecContext) {
			Expect(inAlpha().Delete(ctx, "web-1", metav1.DeleteOptions{DryRun: dryRun})).To(Succeed())
			Expect(inAlpha().DeleteCollection(ctx, metav1.DeleteOptions{DryRun: dryRun}, metav1.ListOptions{})).To(Succeed())
		})

		It("with kubectl leaves everything as it is", func(ctx SpecContext) {
			asEditor(ctx, "apply", "--dry-run=server", "-f", example("instance.yaml"))
			asEditor(ctx, "delete", "inst", "web-1", "--dry-run=server")
		})
	})
})

var _ = Describe("A write", func() {
	It("with a stale resourceVersion is 409 Conflict", func(ctx SpecContext) {
		stale := create(ctx, "web-1").DeepCopy()
		asEditor(ctx, "label", "inst", "web-1", "team=blue")
		stale.Spec.Paused = true
		_, err := inAlpha().Update(ctx, stale, metav1.UpdateOptions{})
		Expect(err).To(beRefused(409, metav1.StatusReasonConflict))
		Expect(err).To(MatchError(ContainSubstring("instances.compute.unikorn-cloud.org \"web-1\"")))
		Expect(get(ctx, "web-1").Spec.Paused).To(BeFalse())
	})

	It("without a resourceVersion is unconditional", func(ctx SpecContext) {
		wanted := create(ctx, "web-1").DeepCopy()
		asEditor(ctx, "label", "inst", "web-1", "team=blue")
		wanted.ResourceVersion, wanted.Spec.Paused = "", true
		updated, err := inAlpha().Update(ctx, wanted, metav1.UpdateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(updated.Spec.Paused).To(BeTrue())
		Expect(updated.Labels).NotTo(HaveKey("team"))
	})

	It("of what does not exist is 404, and creates nothing", func(ctx SpecContext) {
		_, err := inAlpha().Update(ctx, newInstance("web-1"), metav1.UpdateOptions{})
		Expect(err).To(beRefused(404, metav1.StatusReasonNotFound))
		Expect(err).To(MatchError(`instances.compute.unikorn-cloud.org "web-1" not found`))
		_, err = inAlpha().Patch(ctx, "web-1", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{})
		Expect(err).To(beRefused(404, metav1.StatusReasonNotFound))
		Expect(charged(ctx)).To(BeEmpty())
	})

	It("of unknown fields is refused when it is told to be strict", func(ctx SpecContext) {
		_, err := inAlpha().Patch(ctx, create(ctx, "web-1").Name, types.MergePatchType,
			[]byte(`{"spec":{"flavour":"large"}}`), metav1.PatchOptions{FieldValidation: metav1.FieldValidationStrict})
		Expect(err).To(MatchError(ContainSubstring(`unknown field "spec.flavour"`)))
	})

	It("is never lost among many at once", func(ctx SpecContext) {
		create(ctx, "web-1")
		labels := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
		errs := make([]error, len(labels))
		var writers sync.WaitGroup
		for i, label := range labels {
			client := inAlpha()
			writers.Go(func() {
				_, errs[i] = client.Patch(ctx, "web-1", types.MergePatchType,
					[]byte(`{"metadata":{"labels":{"`+label+`":"x"}}}`), metav1.PatchOptions{})
			})
		}
		writers.Wait()
		Expect(errs).To(HaveEach(BeNil()))
		found := get(ctx, "web-1").Labels
		for _, label := range labels {
			Expect(found).To(HaveKey(label))
		}
	})
})
