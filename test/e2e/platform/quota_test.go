// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/identity"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/quota"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/fault"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/requestlog"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

// bill is what all allocations together charge.
func bill(ctx context.Context) quota.Cost {
	GinkgoHelper()
	held, err := Simulator().Allocations(ctx)
	Expect(err).NotTo(HaveOccurred())
	ledger := quota.Ledger{AddressKind: quota.DefaultAddressKind}
	var sum quota.Cost
	for _, allocation := range held {
		one := ledger.Charged(allocation.Spec)
		sum.Servers, sum.GPUs, sum.Addresses = sum.Servers+one.Servers, sum.GPUs+one.GPUs, sum.Addresses+one.Addresses
	}
	return sum
}

func public(instance *v1beta1.Instance) { instance.Spec.Networking.PublicIP = true }

// done are the requests of a method whose path has the part, from the sender of
// the form, that the platform did as asked.
func done(ctx context.Context, form principal.Form, method, part string) []requestlog.Entry {
	GinkgoHelper()
	return slices.DeleteFunc(RequestsIn(ctx, form), func(request requestlog.Entry) bool {
		return request.Method != method || !strings.Contains(request.Path, part) || request.Status/100 != 2
	})
}

var _ = Describe("Quota that is exhausted", func() {
	DescribeTable("is 403 with the kind, the total and the limit, and nothing is stored or charged",
		func(ctx SpecContext, kind string, held int, edits ...func(*v1beta1.Instance)) {
			for i := range held {
				Create(ctx, fmt.Sprintf("held-%d", i), edits...)
			}
			before := Charged(ctx)
			err := createOnce(ctx, NewInstance("web-1", edits...))
			Expect(err).To(BeRefused(http.StatusForbidden, metav1.StatusReasonForbidden))
			status, _ := StatusOf(err)
			text := fmt.Sprintf("%s: total %d exceeds quota limit %d", kind, held+1, held)
			Expect(status.Message).To(ContainSubstring(text))
			Expect(status.Details.Causes).To(ConsistOf(metav1.StatusCause{Type: identity.CauseQuotaExceeded, Field: kind, Message: text}))
			Expect(Get(ctx, "web-1")).To(BeNil())
			Expect(Charged(ctx)).To(Equal(before))
		},
		Entry("of servers", "servers", 10),
		Entry("of GPUs", "gpus", 2, Sized(Gpu)),
		Entry("of addresses", "floatingips", 3, public),
	)

	It("lets exactly as many of 30 creates at the same time through as the limit of 10 allows", func(ctx SpecContext) {
		errs := make([]error, 30)
		var clients sync.WaitGroup
		for i := range errs {
			client := InAlpha()
			clients.Go(func() {
				_, errs[i] = client.Create(ctx, NewInstance(fmt.Sprintf("web-%d", i)), metav1.CreateOptions{})
			})
		}
		clients.Wait()
		failures := slices.DeleteFunc(errs, func(err error) bool { return err == nil })
		Expect(failures).To(HaveLen(20))
		Expect(failures).To(HaveEach(And(
			BeRefused(http.StatusForbidden, metav1.StatusReasonForbidden),
			MatchError(ContainSubstring("servers: total 11 exceeds quota limit 10")))))
		Expect(bill(ctx)).To(Equal(quota.Cost{Servers: 10}))
		list, err := InAlpha().List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(list.Items).To(HaveLen(10))
	})

	It("refuses an update, which leaves the Instance and its charge as they are", func(ctx SpecContext) {
		Limit(ctx, "gpus", 0)
		Create(ctx, "web-1")
		before := AwaitInPlace(ctx, "web-1")
		_, patched := Merge(ctx, environment.AlphaEditor, "web-1", fmt.Sprintf(`{"spec":{"flavorID":%q}}`, Gpu))
		_, replaced := InAlpha().Update(ctx, NewInstance("web-1", Sized(Gpu)), metav1.UpdateOptions{})
		for _, err := range []error{patched, replaced} {
			Expect(err).To(BeRefused(http.StatusForbidden, metav1.StatusReasonForbidden))
			Expect(err).To(MatchError(ContainSubstring("gpus: total 1 exceeds quota limit 0")))
		}
		Expect(Get(ctx, "web-1")).To(Equal(before))
		Expect(bill(ctx)).To(Equal(quota.Cost{Servers: 1}))
	})

	It("keeps the controller from making a server for what another writer stored, until there is quota", func(ctx SpecContext) {
		Limit(ctx, "servers", 0)
		name := Plant(ctx, NewComputeInstance("web-1"))
		refused := AwaitReason(ctx, name, v1alpha1.ReasonQuotaExceeded)
		Expect(ConditionOf(refused, v1beta1.ConditionAvailable).Message).To(Equal("servers: total 1 exceeds quota limit 0"))
		Expect(ConditionOf(refused, v1beta1.ConditionReady).Reason).To(Equal(v1alpha1.ReasonQuotaExceeded))
		Expect(Machines(ctx)).To(BeEmpty())

		Limit(ctx, "servers", 1)
		// Any change makes the controller ask again at once.
		_, err := Merge(ctx, environment.AlphaEditor, name, `{"metadata":{"labels":{"team":"blue"}}}`)
		Expect(err).NotTo(HaveOccurred())
		AwaitInPlace(ctx, name)
		Expect(bill(ctx)).To(Equal(quota.Cost{Servers: 1}))
		Expect(Stored(ctx, name).Annotations).To(HaveKey(v1alpha1.AnnotationAllocationID))
	})
})

var _ = Describe("The charge", func() {
	It("of a public address is raised before the change is stored, and lowered when the server has lost it", func(ctx SpecContext) {
		Create(ctx, "web-1")
		AwaitInPlace(ctx, "web-1")
		ForgetRequests(ctx)
		_, err := Merge(ctx, environment.AlphaEditor, "web-1", `{"spec":{"networking":{"publicIP":true}}}`)
		Expect(err).NotTo(HaveOccurred())
		Expect(bill(ctx)).To(Equal(quota.Cost{Servers: 1, Addresses: 1}))
		Expect(done(ctx, principal.FormA, http.MethodPut, "/allocations/")).To(HaveLen(1))
		Expect(AwaitInPlace(ctx, "web-1").Status.PublicIP).NotTo(BeEmpty())

		By("switched off while region takes no changes")
		WithFaults(ctx, fault.Fault{Service: "region", Method: http.MethodPut, Path: "/servers/", Status: ptr.To(http.StatusServiceUnavailable)})
		ForgetRequests(ctx)
		_, err = Merge(ctx, environment.AlphaEditor, "web-1", `{"spec":{"networking":{"publicIP":false}}}`)
		Expect(err).NotTo(HaveOccurred())
		Eventually(func() int {
			tries := 0
			for _, request := range RequestsIn(ctx, principal.FormB) {
				if request.Method == http.MethodPut && request.Status == http.StatusServiceUnavailable {
					tries++
				}
			}
			return tries
		}).WithContext(ctx).Should(BeNumerically(">=", 3))
		Expect(bill(ctx)).To(Equal(quota.Cost{Servers: 1, Addresses: 1}))
		Expect(done(ctx, principal.FormA, http.MethodPut, "/allocations/")).To(BeEmpty(), "the API server never lowers")

		By("when region takes changes again")
		Expect(Simulator().ClearFaults(ctx)).To(Succeed())
		Eventually(bill).WithContext(ctx).Should(Equal(quota.Cost{Servers: 1}))
		Expect(AwaitInPlace(ctx, "web-1").Status.PublicIP).To(BeEmpty())
		changed := done(ctx, principal.FormB, http.MethodPut, "/servers/")
		lowered := done(ctx, principal.FormB, http.MethodPut, "/allocations/")
		Expect(changed).NotTo(BeEmpty())
		Expect(lowered).To(HaveLen(1))
		Expect(lowered[0].StartedAt).To(BeTemporally(">=", changed[0].StartedAt))
	})

	It("of a larger flavor stays while a paused Instance still has the larger server", func(ctx SpecContext) {
		Create(ctx, "web-1", Sized(Gpu))
		AwaitInPlace(ctx, "web-1")
		_, err := Merge(ctx, environment.AlphaEditor, "web-1", fmt.Sprintf(`{"spec":{"paused":true,"flavorID":%q}}`, Standard))
		Expect(err).NotTo(HaveOccurred())
		AwaitReason(ctx, "web-1", v1alpha1.ReasonPaused)
		Expect(bill(ctx)).To(Equal(quota.Cost{Servers: 1, GPUs: 1}))

		By("and until the server is the smaller one")
		ForgetRequests(ctx)
		_, err = Merge(ctx, environment.AlphaEditor, "web-1", `{"spec":{"paused":false}}`)
		Expect(err).NotTo(HaveOccurred())
		Eventually(bill).WithContext(ctx).Should(Equal(quota.Cost{Servers: 1}))
		made := done(ctx, principal.FormB, http.MethodPost, "/servers")
		lowered := done(ctx, principal.FormB, http.MethodPut, "/allocations/")
		Expect(made).To(HaveLen(1))
		Expect(lowered).To(HaveLen(1))
		Expect(lowered[0].StartedAt).To(BeTemporally(">", made[0].StartedAt))
		AwaitInPlace(ctx, "web-1")
	})
})

var _ = Describe("An instance that is too large to be stored", func() {
	It("is refused and not charged, in a dry run as well", func(ctx SpecContext) {
		large := NewInstance("large")
		large.Labels = map[string]string{}
		for i := range 24_000 {
			large.Labels[fmt.Sprintf("l%d", i)] = strings.Repeat("v", 60)
		}
		before := Charged(ctx)
		for _, options := range []metav1.CreateOptions{{}, {DryRun: []string{metav1.DryRunAll}}} {
			_, err := InAlpha().Create(ctx, large, options)
			Expect(apierrors.IsRequestEntityTooLargeError(err)).To(BeTrue(), "%v", err)
		}
		Expect(Charged(ctx)).To(Equal(before))
	})
})
