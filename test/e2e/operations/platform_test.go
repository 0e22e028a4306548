// SPDX-License-Identifier: Apache-2.0

package operations

import (
	"context"
	"net/http"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/requestlog"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

// withMethod are those of the requests that have one of the methods.
func withMethod(requests []requestlog.Entry, methods ...string) []requestlog.Entry {
	return slices.DeleteFunc(slices.Clone(requests), func(request requestlog.Entry) bool {
		return !slices.Contains(methods, request.Method)
	})
}

// committed is what the one allocation there is holds of a kind.
func committed(ctx context.Context, kind string) int {
	GinkgoHelper()
	held, err := Simulator().Allocations(ctx)
	Expect(err).NotTo(HaveOccurred())
	Expect(held).To(HaveLen(1))
	for _, part := range held[0].Spec.Allocations {
		if part.Kind == kind {
			return part.Committed
		}
	}
	Fail("nothing of kind " + kind)
	return 0
}

func conditionsOf(conditions []metav1.Condition) map[string]metav1.ConditionStatus {
	found := map[string]metav1.ConditionStatus{}
	for _, condition := range conditions {
		found[condition.Type] = condition.Status
	}
	return found
}

var _ = Describe("The platform", func() {
	It("is asked for references as the person, and charged as the service, on the person's behalf", func(ctx SpecContext) {
		ForgetRequests(ctx)
		Create(ctx, "web-1", Behind(AlphaGroup), Trusting(AlphaAuthority))
		requests := RequestsIn(ctx, principal.FormA)
		for _, request := range requests {
			Expect(PrincipalOf(request).Actor).To(Equal(environment.AlphaEditor), request.Path)
			Expect(request.Impersonate).To(Equal(request.Method == http.MethodGet), request.Path)
		}
		Expect(withMethod(requests, http.MethodGet)).To(And(HaveLen(5), HaveEach(HaveField("Service", "region"))))
		Expect(withMethod(requests, http.MethodPost)).To(ConsistOf(HaveField("Service", "identity")))
	})

	It("is asked for the machine, and to release it, by the controller, which signs", func(ctx SpecContext) {
		ForgetRequests(ctx)
		Create(ctx, "web-1")
		AwaitRunning(ctx, "web-1")
		AsEditor(ctx, "delete", "inst", "web-1")
		calls := RequestsIn(ctx, principal.FormB)
		Expect(calls).To(HaveEach(HaveField("Impersonate", false)))
		Expect(withMethod(calls, http.MethodPost)).To(ConsistOf(HaveField("Service", "region")))
		Expect(withMethod(calls, http.MethodDelete)).To(ContainElements(HaveField("Service", "region"), HaveField("Service", "identity")))
		Expect(withMethod(RequestsIn(ctx, principal.FormA), http.MethodDelete)).To(BeEmpty())
	})

	It("is mirrored in status and conditions", func(ctx SpecContext) {
		created := Create(ctx, "web-1", func(instance *v1beta1.Instance) { instance.Spec.Networking.PublicIP = true })
		running := AwaitRunning(ctx, "web-1")
		Eventually(func() map[string]metav1.ConditionStatus { return conditionsOf(Get(ctx, "web-1").Status.Conditions) }).
			Should(Equal(map[string]metav1.ConditionStatus{
				"Ready": "True", "Stalled": "False", "Available": "True", "Healthy": "True", "Active": "True",
			}))
		Expect(running.Status.ObservedGeneration).To(Equal(running.Generation))
		servers, err := Simulator().Servers(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(servers).To(HaveLen(1))
		Expect(servers[0].Status.PrivateIP).To(Equal(running.Status.PrivateIP))
		Expect(servers[0].Status.PublicIP).To(Equal(running.Status.PublicIP))
		Expect(servers[0].Status.MacAddress).To(Equal(running.Status.MACAddress))
		Expect(conditionsOf(Stored(ctx, string(created.Status.InstanceID)).Status.Conditions)).To(HaveLen(3), "the others are derived")
	})

	It("follows a changed spec, and what is charged follows the machine", func(ctx SpecContext) {
		Create(ctx, "web-1")
		AwaitRunning(ctx, "web-1")
		Expect(committed(ctx, "floatingips")).To(BeZero())
		change := func(publicIP string) {
			_, err := InAlpha().Patch(ctx, "web-1", types.MergePatchType,
				[]byte(`{"spec":{"networking":{"publicIP":`+publicIP+`}}}`), metav1.PatchOptions{})
			Expect(err).NotTo(HaveOccurred())
		}
		change("true")
		Expect(committed(ctx, "floatingips")).To(Equal(1), "raised before the answer")
		Eventually(func() string { return Get(ctx, "web-1").Status.PublicIP }).Should(Not(BeEmpty()))
		change("false")
		Eventually(func() string { return Get(ctx, "web-1").Status.PublicIP }).Should(BeEmpty())
		Eventually(committed).WithContext(ctx).WithArguments("floatingips").Should(BeZero())
	})

	It("has one controller at a time", func(ctx SpecContext) {
		leases, err := ClientOf(environment.Admin).CoordinationV1().Leases("unikorn-compute").List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(leases.Items).To(ConsistOf(HaveField("Spec.HolderIdentity", HaveValue(Not(BeEmpty())))))
	})

	It("keeps its hands off what another writer stores, but for the machine behind it", func(ctx SpecContext) {
		object := Untyped(NewComputeInstance("elsewhere"))
		_, err := ComputeInstances(Alpha).Create(ctx, object, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		// Without the label of an Instance's name it is known by its own.
		shown := AwaitRunning(ctx, object.GetName())
		Expect(shown.Spec.Name).To(Equal("elsewhere"))
		Expect(shown.Labels).NotTo(HaveKey(v1alpha1.LabelInstanceName))
		Expect(AsEditor(ctx, "get", "inst", "-o", "name")).To(ContainSubstring(object.GetName()))
	})
})
