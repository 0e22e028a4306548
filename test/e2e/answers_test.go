// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/fault"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
)

// createOnce creates an Instance without repeating a request that was answered
// with Retry-After, as clients do.
func createOnce(ctx context.Context, instance *v1beta1.Instance) error {
	GinkgoHelper()
	client := instancesFor(configOf(environment.AlphaEditor)).ComputeV1beta1().RESTClient()
	return client.Post().Namespace(alpha).Resource("instances").Body(instance).MaxRetries(0).Do(ctx).Error()
}

func withFaults(ctx context.Context, faults ...fault.Fault) {
	GinkgoHelper()
	Expect(simulator().SetFaults(ctx, faults...)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { Expect(simulator().ClearFaults(ctx)).To(Succeed()) })
}

// limitServers sets the number of servers that the organization may have.
func limitServers(ctx context.Context, limit int) {
	GinkgoHelper()
	Expect(simulator().SetQuotas(ctx, world.Acme, map[string]*int{"servers": &limit})).To(Succeed())
}

var _ = Describe("A create", func() {
	It("beyond the quota is 403 and says what is exceeded", func(ctx SpecContext) {
		limitServers(ctx, 1)
		DeferCleanup(func(ctx SpecContext) { limitServers(ctx, 10) })
		create(ctx, "web-1")
		_, err := inAlpha().Create(ctx, newInstance("web-2"), metav1.CreateOptions{})
		Expect(err).To(beRefused(403, metav1.StatusReasonForbidden))
		Expect(err).To(MatchError(ContainSubstring("servers: total 2 exceeds quota limit 1")))
		Expect(get(ctx, "web-2")).To(BeNil())
		Expect(charged(ctx)).To(HaveLen(1))
	})

	DescribeTable("while the platform is down is 503, names the service and says when to come back",
		func(ctx SpecContext, down fault.Fault) {
			withFaults(ctx, down)
			err := createOnce(ctx, newInstance("web-1"))
			Expect(err).To(beRefused(503, metav1.StatusReasonServiceUnavailable))
			status, _ := statusOf(err)
			Expect(status.Details.RetryAfterSeconds).To(BeNumerically(">", 0))
			Expect(status.Message).To(ContainSubstring(down.Service))
			Expect(get(ctx, "web-1")).To(BeNil())
		},
		Entry("region answers 500", fault.Fault{Service: "region", Status: ptr.To(http.StatusInternalServerError)}),
		Entry("region drops connections", fault.Fault{Service: "region", Status: ptr.To(0)}),
	)

	// Clients repeat by themselves what is to be tried again, and each time could
	// charge once more.
	DescribeTable("of which it is open whether it was charged is 504, names identity and invites no repetition",
		func(ctx SpecContext, lost fault.Fault) {
			withFaults(ctx, lost)
			err := createOnce(ctx, newInstance("web-1"))
			Expect(err).To(beRefused(504, metav1.StatusReasonTimeout))
			status, _ := statusOf(err)
			Expect(status.Details.RetryAfterSeconds).To(BeZero())
			Expect(status.Message).To(ContainSubstring("identity"))
			Expect(get(ctx, "web-1")).To(BeNil())
		},
		Entry("identity answers 503", fault.Fault{Service: "identity", Method: http.MethodPost, Status: ptr.To(http.StatusServiceUnavailable)}),
		Entry("identity drops connections", fault.Fault{Service: "identity", Method: http.MethodPost, Status: ptr.To(0)}),
	)

	It("that the cluster refuses to store gives back what was charged", func(ctx SpecContext) {
		refuseToStore(ctx)
		Expect(simulator().ForgetRequests(ctx)).To(Succeed())
		_, err := inAlpha().Create(ctx, newInstance("web-1", labelled("e2e", "refused")), metav1.CreateOptions{})
		Expect(err).To(MatchError(And(ContainSubstring("not today"), Not(ContainSubstring("computeinstances")))))
		Expect(platformWrites(ctx)).To(ContainElement(HavePrefix("identity POST ")), "it was charged first")
		Eventually(charged).WithContext(ctx).Should(BeEmpty())
	})
})

// refuseToStore makes the cluster refuse ComputeInstances with a label until
// the spec ends.
func refuseToStore(ctx context.Context) {
	GinkgoHelper()
	const name = "e2e-refused"
	admission := clientOf(environment.Admin).AdmissionregistrationV1()
	_, err := admission.ValidatingAdmissionPolicies().Create(ctx, &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{
				ObjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"e2e": "refused"}},
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
					Rule: admissionregistrationv1.Rule{
						APIGroups: []string{"compute.unikorn-cloud.org"}, APIVersions: []string{"v1alpha1"}, Resources: []string{"computeinstances"},
					},
				}}},
			},
			Validations: []admissionregistrationv1.Validation{{Expression: "false", Message: "not today"}},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		Expect(admission.ValidatingAdmissionPolicies().Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
	})
	_, err = admission.ValidatingAdmissionPolicyBindings().Create(ctx, &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		Expect(admission.ValidatingAdmissionPolicyBindings().Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
	})
	Eventually(func() error { return tryToStore(ctx) }).Should(MatchError(ContainSubstring("not today")))
}

// tryToStore says whether the cluster would store a ComputeInstance with the
// label.
func tryToStore(ctx context.Context) error {
	GinkgoHelper()
	object := unlabelledResource("refused")
	labels := object.GetLabels()
	labels["e2e"] = "refused"
	object.SetLabels(labels)
	_, err := computeInstances(alpha).Create(ctx, object, metav1.CreateOptions{DryRun: dryRun})
	return err
}
