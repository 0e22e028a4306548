// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"context"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/fault"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

// createOnce creates an Instance without repeating a request that was answered
// with Retry-After, as clients do.
func createOnce(ctx context.Context, instance *v1beta1.Instance) error {
	GinkgoHelper()
	client := InstancesFor(ConfigOf(environment.AlphaEditor)).ComputeV1beta1().RESTClient()
	return client.Post().Namespace(Alpha).Resource("instances").Body(instance).MaxRetries(0).Do(ctx).Error()
}

// limitServers sets the number of servers that the organization may have.
func limitServers(ctx context.Context, limit int) {
	GinkgoHelper()
	Expect(Simulator().SetQuotas(ctx, world.Acme, map[string]*int{"servers": &limit})).To(Succeed())
}

var _ = Describe("A create", func() {
	It("beyond the quota is 403 and says what is exceeded", func(ctx SpecContext) {
		limitServers(ctx, 1)
		DeferCleanup(func(ctx SpecContext) { limitServers(ctx, 10) })
		Create(ctx, "web-1")
		_, err := InAlpha().Create(ctx, NewInstance("web-2"), metav1.CreateOptions{})
		Expect(err).To(BeRefused(403, metav1.StatusReasonForbidden))
		Expect(err).To(MatchError(ContainSubstring("servers: total 2 exceeds quota limit 1")))
		Expect(Get(ctx, "web-2")).To(BeNil())
		Expect(Charged(ctx)).To(HaveLen(1))
	})

	DescribeTable("while the platform is down is 503, names the service and says when to come back",
		func(ctx SpecContext, down fault.Fault) {
			WithFaults(ctx, down)
			err := createOnce(ctx, NewInstance("web-1"))
			Expect(err).To(BeRefused(503, metav1.StatusReasonServiceUnavailable))
			status, _ := StatusOf(err)
			Expect(status.Details.RetryAfterSeconds).To(BeNumerically(">", 0))
			Expect(status.Message).To(ContainSubstring(down.Service))
			Expect(Get(ctx, "web-1")).To(BeNil())
		},
		Entry("region answers 500", fault.Fault{Service: "region", Status: ptr.To(http.StatusInternalServerError)}),
		Entry("region drops connections", fault.Fault{Service: "region", Status: ptr.To(0)}),
	)

	// Clients repeat by themselves what is to be tried again, and each time could
	// charge once more.
	DescribeTable("of which it is open whether it was charged is 504, names identity and invites no repetition",
		func(ctx SpecContext, lost fault.Fault) {
			WithFaults(ctx, lost)
			err := createOnce(ctx, NewInstance("web-1"))
			Expect(err).To(BeRefused(504, metav1.StatusReasonTimeout))
			status, _ := StatusOf(err)
			Expect(status.Details.RetryAfterSeconds).To(BeZero())
			Expect(status.Message).To(ContainSubstring("identity"))
			Expect(Get(ctx, "web-1")).To(BeNil())
		},
		Entry("identity answers 503", fault.Fault{Service: "identity", Method: http.MethodPost, Status: ptr.To(http.StatusServiceUnavailable)}),
		Entry("identity drops connections", fault.Fault{Service: "identity", Method: http.MethodPost, Status: ptr.To(0)}),
	)

	It("that the cluster refuses to store gives back what was charged", func(ctx SpecContext) {
		refuseToStore(ctx)
		Expect(Simulator().ForgetRequests(ctx)).To(Succeed())
		_, err := InAlpha().Create(ctx, NewInstance("web-1", Labelled("e2e", "refused")), metav1.CreateOptions{})
		Expect(err).To(MatchError(And(ContainSubstring("not today"), Not(ContainSubstring("computeinstances")))))
		Expect(PlatformWrites(ctx)).To(ContainElement(HavePrefix("identity POST ")), "it was charged first")
		Eventually(Charged).WithContext(ctx).Should(BeEmpty())
	})
})

// refuseToStore makes the cluster refuse ComputeInstances with a label until
// the spec ends.
func refuseToStore(ctx context.Context) {
	GinkgoHelper()
	Deny(ctx, "e2e-refused", Denial{
		Version: "v1alpha1", Resource: "computeinstances", Only: map[string]string{"e2e": "refused"}, Unless: "false", Message: "not today",
	})
	Eventually(func() error { return tryToStore(ctx) }).Should(MatchError(ContainSubstring("not today")))
}

// tryToStore says whether the cluster would store a ComputeInstance with the
// label.
func tryToStore(ctx context.Context) error {
	GinkgoHelper()
	object := Untyped(NewComputeInstance("refused"))
	labels := object.GetLabels()
	labels["e2e"] = "refused"
	object.SetLabels(labels)
	_, err := ComputeInstances(Alpha).Create(ctx, object, metav1.CreateOptions{DryRun: DryRun})
	return err
}
