// SPDX-License-Identifier: Apache-2.0

package e2e

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
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
)

// limit changes what acme may have of a kind until the spec ends.
func limit(ctx context.Context, kind string, quantity int) {
	GinkgoHelper()
	fixture := map[string]int{"servers": 10, "gpus": 2, "floatingips": 3}
	Expect(simulator().SetQuotas(ctx, world.Acme, map[string]*int{kind: &quantity})).To(Succeed())
	DeferCleanup(func(ctx SpecContext) {
		Expect(simulator().SetQuotas(ctx, world.Acme, map[string]*int{kind: ptr.To(fixture[kind])})).To(Succeed())
	})
}

// bill is what all allocations together charge.
func bill(ctx context.Context) quota.Cost {
	GinkgoHelper()
	held, err := simulator().Allocations(ctx)
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

// conditionOf is the condition of a type, empty if there is none.
func conditionOf(instance *v1beta1.Instance, kind string) metav1.Condition {
	if instance != nil {
		for _, condition := range instance.Status.Conditions {
			if condition.Type == kind {
				return condition
			}
		}
	}
	return metav1.Condition{}
}

// awaitReason waits until the current generation of an Instance is not
// Available for the reason.
func awaitReason(ctx context.Context, name, reason string) *v1beta1.Instance {
	GinkgoHelper()
	var found *v1beta1.Instance
	Eventually(func(g Gomega) {
		found = get(ctx, name)
		g.Expect(found).NotTo(BeNil())
		g.Expect(conditionOf(found, v1beta1.ConditionAvailable)).To(And(
			HaveField("Status", metav1.ConditionFalse), HaveField("Reason", reason), HaveField("ObservedGeneration", found.Generation)))
	}).WithContext(ctx).Should(Succeed())
	return found
}

// awaitInPlace waits until the machine of the current generation runs.
func awaitInPlace(ctx context.Context, name string) *v1beta1.Instance {
	GinkgoHelper()
	var found *v1beta1.Instance
	Eventually(func(g Gomega) {
		found = get(ctx, name)
		g.Expect(found).NotTo(BeNil())
		g.Expect(conditionOf(found, v1beta1.ConditionReady)).To(And(
			HaveField("Status", metav1.ConditionTrue), HaveField("ObservedGeneration", found.Generation)))
		g.Expect(found.Status.PowerState).To(Equal(v1beta1.PowerStateRunning))
	}).WithContext(ctx).Should(Succeed())
	return found
}

// done are the requests of a method whose path has the part, from the sender of
// the form, that the platform did as asked.
func done(ctx context.Context, form principal.Form, method, part string) []requestlog.Entry {
	GinkgoHelper()
	return slices.DeleteFunc(requestsIn(ctx, form), func(request requestlog.Entry) bool {
		return request.Method != method || !strings.Contains(request.Path, part) || request.Status/100 != 2
	})
}

var _ = Describe("Quota that is exhausted", func() {
	DescribeTable("is 403 with the kind, the total and the limit, and nothing is stored or charged",
		func(ctx SpecContext, kind string, held int, edits ...func(*v1beta1.Instance)) {
			for i := range held {
				create(ctx, fmt.Sprintf("held-%d", i), edits...)
			}
			before := charged(ctx)
			err := createOnce(ctx, newInstance("web-1", edits...))
			Expect(err).To(beRefused(http.StatusForbidden, metav1.StatusReasonForbidden))
			status, _ := statusOf(err)
			text := fmt.Sprintf("%s: total %d exceeds quota limit %d", kind, held+1, held)
			Expect(status.Message).To(ContainSubstring(text))
			Expect(status.Details.Causes).To(ConsistOf(metav1.StatusCause{Type: identity.CauseQuotaExceeded, Field: kind, Message: text}))
			Expect(get(ctx, "web-1")).To(BeNil())
			Expect(charged(ctx)).To(Equal(before))
		},
		Entry("of servers", "servers", 10),
		Entry("of GPUs", "gpus", 2, sized(gpu)),
		Entry("of addresses", "floatingips", 3, public),
	)

	It("lets exactly as many of 30 creates at the same time through as the limit of 10 allows", func(ctx SpecContext) {
		errs := make([]error, 30)
		var clients sync.WaitGroup
		for i := range errs {
			client := inAlpha()
			clients.Go(func() {
				_, errs[i] = client.Create(ctx, newInstance(fmt.Sprintf("web-%d", i)), metav1.CreateOptions{})
			})
		}
		clients.Wait()
		failures := slices.DeleteFunc(errs, func(err error) bool { return err == nil })
		Expect(failures).To(HaveLen(20))
		Expect(failures).To(HaveEach(And(
			beRefused(http.StatusForbidden, metav1.StatusReasonForbidden),
			MatchError(ContainSubstring("servers: total 11 exceeds quota limit 10")))))
		Expect(bill(ctx)).To(Equal(quota.Cost{Servers: 10}))
		list, err := inAlpha().List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(list.Items).To(HaveLen(10))
	})

	It("refuses an update, which leaves the Instance and its charge as they are", func(ctx SpecContext) {
		limit(ctx, "gpus", 0)
		create(ctx, "web-1")
		before := awaitInPlace(ctx, "web-1")
		_, err := merge(ctx, environment.AlphaEditor, "web-1", fmt.Sprintf(`{"spec":{"flavorID":%q}}`, gpu))
		Expect(err).To(beRefused(http.StatusForbidden, metav1.StatusReasonForbidden))
		Expect(err).To(MatchError(ContainSubstring("gpus: total 1 exceeds quota limit 0")))
		Expect(get(ctx, "web-1")).To(Equal(before))
		Expect(bill(ctx)).To(Equal(quota.Cost{Servers: 1}))
	})

	It("keeps the controller from making a server for what another writer stored, until there is quota", func(ctx SpecContext) {
		limit(ctx, "servers", 0)
		name := plant(ctx, newComputeInstance("web-1"))
		refused := awaitReason(ctx, name, v1alpha1.ReasonQuotaExceeded)
		Expect(conditionOf(refused, v1beta1.ConditionAvailable).Message).To(Equal("servers: total 1 exceeds quota limit 0"))
		Expect(conditionOf(refused, v1beta1.ConditionReady).Reason).To(Equal(v1alpha1.ReasonQuotaExceeded))
		Expect(machines(ctx)).To(BeEmpty())

		limit(ctx, "servers", 1)
		// Any change makes the controller ask again at once.
		_, err := merge(ctx, environment.AlphaEditor, name, `{"metadata":{"labels":{"team":"blue"}}}`)
		Expect(err).NotTo(HaveOccurred())
		awaitInPlace(ctx, name)
		Expect(bill(ctx)).To(Equal(quota.Cost{Servers: 1}))
		Expect(stored(ctx, name).Annotations).To(HaveKey(v1alpha1.AnnotationAllocationID))
	})
})

var _ = Describe("The charge", func() {
	It("of a public address is raised before the change is stored, and lowered when the server has lost it", func(ctx SpecContext) {
		create(ctx, "web-1")
		awaitInPlace(ctx, "web-1")
		forgetRequests(ctx)
		_, err := merge(ctx, environment.AlphaEditor, "web-1", `{"spec":{"networking":{"publicIP":true}}}`)
		Expect(err).NotTo(HaveOccurred())
		Expect(bill(ctx)).To(Equal(quota.Cost{Servers: 1, Addresses: 1}))
		Expect(done(ctx, principal.FormA, http.MethodPut, "/allocations/")).To(HaveLen(1))
		Expect(awaitInPlace(ctx, "web-1").Status.PublicIP).NotTo(BeEmpty())

		By("switched off while region takes no changes")
		withFaults(ctx, fault.Fault{Service: "region", Method: http.MethodPut, Path: "/servers/", Status: ptr.To(http.StatusServiceUnavailable)})
		forgetRequests(ctx)
		_, err = merge(ctx, environment.AlphaEditor, "web-1", `{"spec":{"networking":{"publicIP":false}}}`)
		Expect(err).NotTo(HaveOccurred())
		Eventually(func() int {
			tries := 0
			for _, request := range requestsIn(ctx, principal.FormB) {
				if request.Method == http.MethodPut && request.Status == http.StatusServiceUnavailable {
					tries++
				}
			}
			return tries
		}).WithContext(ctx).Should(BeNumerically(">=", 3))
		Expect(bill(ctx)).To(Equal(quota.Cost{Servers: 1, Addresses: 1}))
		Expect(done(ctx, principal.FormA, http.MethodPut, "/allocations/")).To(BeEmpty(), "the API server never lowers")

		By("when region takes changes again")
		Expect(simulator().ClearFaults(ctx)).To(Succeed())
		Eventually(bill).WithContext(ctx).Should(Equal(quota.Cost{Servers: 1}))
		Expect(awaitInPlace(ctx, "web-1").Status.PublicIP).To(BeEmpty())
		changed := done(ctx, principal.FormB, http.MethodPut, "/servers/")
		lowered := done(ctx, principal.FormB, http.MethodPut, "/allocations/")
		Expect(changed).NotTo(BeEmpty())
		Expect(lowered).To(HaveLen(1))
		Expect(lowered[0].StartedAt).To(BeTemporally(">=", changed[0].StartedAt))
	})

	It("of a larger flavor stays while a paused Instance still has the larger server", func(ctx SpecContext) {
		create(ctx, "web-1", sized(gpu))
		awaitInPlace(ctx, "web-1")
		_, err := merge(ctx, environment.AlphaEditor, "web-1", fmt.Sprintf(`{"spec":{"paused":true,"flavorID":%q}}`, standard))
		Expect(err).NotTo(HaveOccurred())
		awaitReason(ctx, "web-1", v1alpha1.ReasonPaused)
		Expect(bill(ctx)).To(Equal(quota.Cost{Servers: 1, GPUs: 1}))

		By("and until the server is the smaller one")
		forgetRequests(ctx)
		_, err = merge(ctx, environment.AlphaEditor, "web-1", `{"spec":{"paused":false}}`)
		Expect(err).NotTo(HaveOccurred())
		Eventually(bill).WithContext(ctx).Should(Equal(quota.Cost{Servers: 1}))
		made := done(ctx, principal.FormB, http.MethodPost, "/servers")
		lowered := done(ctx, principal.FormB, http.MethodPut, "/allocations/")
		Expect(made).To(HaveLen(1))
		Expect(lowered).To(HaveLen(1))
		Expect(lowered[0].StartedAt).To(BeTemporally(">", made[0].StartedAt))
		awaitInPlace(ctx, "web-1")
	})
})

var _ = Describe("An instance that is too large to be stored", func() {
	It("is refused and not charged, in a dry run as well", func(ctx SpecContext) {
		large := newInstance("large")
		large.Labels = map[string]string{}
		for i := range 24_000 {
			large.Labels[fmt.Sprintf("l%d", i)] = strings.Repeat("v", 60)
		}
		before := charged(ctx)
		for _, options := range []metav1.CreateOptions{{}, {DryRun: []string{metav1.DryRunAll}}} {
			_, err := inAlpha().Create(ctx, large, options)
			Expect(apierrors.IsRequestEntityTooLargeError(err)).To(BeTrue(), "%v", err)
		}
		Expect(charged(ctx)).To(Equal(before))
	})
})
