// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/acl"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/fault"
)

var _ = Describe("The subresources of an Instance", Ordered, func() {
	const name = "web-1"
	var instance *v1beta1.Instance

	BeforeAll(func(ctx SpecContext) {
		create(ctx, name)
		instance = awaitRunning(ctx, name)
	})

	expectAll := func(outcome map[string]error, wanted OmegaMatcher) {
		GinkgoHelper()
		for subresource, err := range outcome {
			Expect(err).To(wanted, subresource)
		}
	}

	Context("to a viewer", func() {
		It("are there to be read", func(ctx SpecContext) {
			expectAll(readings(ctx, instances(environment.AlphaViewer, alpha), name), Not(HaveOccurred()))
		})

		It("are not there to be used", func(ctx SpecContext) {
			for _, dryRun := range [][]string{nil, {metav1.DryRunAll}} {
				expectAll(attempts(ctx, instances(environment.AlphaViewer, alpha), name, dryRun...), beRefused(403, metav1.StatusReasonForbidden))
			}
		})
	})

	It("are nothing to somebody of another project", func(ctx SpecContext) {
		stranger := instances(environment.BetaEditor, alpha)
		expectAll(readings(ctx, stranger, name), beRefused(403, metav1.StatusReasonForbidden))
		expectAll(attempts(ctx, stranger, name), beRefused(403, metav1.StatusReasonForbidden))
	})

	It("of one that does not exist are 404", func(ctx SpecContext) {
		expectAll(readings(ctx, inAlpha(), "web-9"), beRefused(404, metav1.StatusReasonNotFound))
		expectAll(attempts(ctx, inAlpha(), "web-9"), beRefused(404, metav1.StatusReasonNotFound))
	})

	It("are not used by whom the platform does not know, whatever the cluster allows", func(ctx SpecContext) {
		Expect(simulator().SetRoles(ctx, environment.AlphaEditor, nil)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			Expect(simulator().SetRoles(ctx, environment.AlphaEditor, map[ids.ProjectID]acl.Role{alphaID: acl.RoleEditor})).To(Succeed())
		})
		Expect(may(ctx, environment.AlphaEditor, "create", "instances", "power", alpha)).To(BeTrue())
		Expect(simulator().ForgetRequests(ctx)).To(Succeed())
		for _, dryRun := range [][]string{nil, {metav1.DryRunAll}} {
			expectAll(attempts(ctx, inAlpha(), name, dryRun...), beRefused(403, metav1.StatusReasonForbidden))
		}
		for _, effect := range []string{"/softreboot", "/consolesessions", "/snapshot", "/sshkey"} {
			Expect(requestsOf(ctx, effect)).To(BeEmpty(), effect)
		}
		expectAll(readings(ctx, inAlpha(), name), Not(HaveOccurred()))
	})

	It("are for those who operate the platform, whom the platform does not know", func(ctx SpecContext) {
		expectAll(attempts(ctx, instances(environment.Admin, alpha), name), Not(HaveOccurred()))
	})

	It("are nobody's where the namespace has come to be another project's", func(ctx SpecContext) {
		rebind := func(ctx context.Context, project ids.ProjectID) {
			GinkgoHelper()
			_, err := clientOf(environment.Admin).CoreV1().Namespaces().Patch(ctx, alpha, types.MergePatchType,
				[]byte(`{"metadata":{"labels":{"unikorn-cloud.org/project":"`+string(project)+`"}}}`), metav1.PatchOptions{})
			Expect(err).NotTo(HaveOccurred())
		}
		rebind(ctx, "0a000000-0000-4000-8000-0000000000af")
		DeferCleanup(func(ctx SpecContext) { rebind(ctx, alphaID) })
		expectAll(readings(ctx, inAlpha(), name), beRefused(403, metav1.StatusReasonForbidden))
		expectAll(attempts(ctx, inAlpha(), name), beRefused(403, metav1.StatusReasonForbidden))
		response, _ := raw(ctx, environment.AlphaViewer, http.MethodGet, listPath+"/web-1/status", "")
		Expect(response.StatusCode).To(Equal(http.StatusOK))
	})

	It("do not do twice what the platform may have done", func(ctx SpecContext) {
		DeferCleanup(func(ctx SpecContext) { Expect(simulator().ClearFaults(ctx)).To(Succeed()) })
		for verb, request := range map[string]func() error{
			"/softreboot": func() error { _, err := switchPower(ctx, inAlpha(), name, v1beta1.PowerActionReboot); return err },
			"/hardreboot": func() error { _, err := switchPower(ctx, inAlpha(), name, v1beta1.PowerActionHardReboot); return err },
			"/snapshot": func() error {
				_, err := inAlpha().CreateSnapshot(ctx, name, snapshot("lost"), metav1.CreateOptions{})
				return err
			},
		} {
			Expect(simulator().ForgetRequests(ctx)).To(Succeed())
			Expect(simulator().SetFaults(ctx, fault.Fault{Service: "region", Path: verb + "$", AfterCommit: true})).To(Succeed())
			err := request()
			Expect(err).To(beRefused(503, metav1.StatusReasonServiceUnavailable), verb)
			Expect(err).To(MatchError(ContainSubstring("whether it was done is not known")), verb)
			Expect(requestsOf(ctx, verb)).To(HaveLen(1), verb)
		}
	})

	It("say to try again where nothing was done", func(ctx SpecContext) {
		DeferCleanup(func(ctx SpecContext) { Expect(simulator().ClearFaults(ctx)).To(Succeed()) })
		Expect(simulator().SetFaults(ctx, fault.Fault{Service: "region", Path: "/stop$", Status: ptr.To(503), Times: 1})).To(Succeed())
		Expect(simulator().ForgetRequests(ctx)).To(Succeed())
		// The client does what it is told.
		_, err := switchPower(ctx, inAlpha(), name, v1beta1.PowerActionStop)
		Expect(err).NotTo(HaveOccurred())
		Expect(requestsOf(ctx, "/stop")).To(HaveLen(2))
		Eventually(powerOf).WithContext(ctx).WithArguments(name).Should(Equal(v1beta1.PowerStateStopped))
	})

	Context("with no server or several behind it", Ordered, func() {
		BeforeAll(func(ctx SpecContext) {
			// Nothing puts the servers right while it is paused.
			_, err := inAlpha().Patch(ctx, name, types.MergePatchType, []byte(`{"spec":{"paused":true}}`), metav1.PatchOptions{})
			Expect(err).NotTo(HaveOccurred())
		})

		inconsistent := func(ctx context.Context, count string) {
			GinkgoHelper()
			// What the simulator was just told shows with its read lag.
			Eventually(func(ctx context.Context) error { return readings(ctx, inAlpha(), name)["power"] }).WithContext(ctx).
				Should(MatchError(ContainSubstring(count + " servers")))
			for subresource, err := range mergedOutcomes(attempts(ctx, inAlpha(), name), readings(ctx, inAlpha(), name)) {
				Expect(err).To(beRefused(500, metav1.StatusReasonInternalError), subresource)
				cause, found := apierrors.StatusCause(err, v1beta1.CauseConsistencyError)
				Expect(found).To(BeTrue(), subresource)
				Expect(cause.Message).To(HavePrefix(count+" servers"), subresource)
			}
		}

		It("of two say so", func(ctx SpecContext) {
			planted, err := simulator().PlantServer(ctx, plantedFor(instance, "impostor"))
			Expect(err).NotTo(HaveOccurred())
			DeferCleanup(func(ctx SpecContext) { Expect(simulator().UprootServer(ctx, planted.ID())).To(Succeed()) })
			inconsistent(ctx, "2")
		})

		It("of none say so", func(ctx SpecContext) {
			servers, err := simulator().Servers(ctx)
			Expect(err).NotTo(HaveOccurred())
			for _, server := range servers {
				Expect(simulator().UprootServer(ctx, server.ID())).To(Succeed())
			}
			inconsistent(ctx, "0")
		})
	})
})

// mergedOutcomes tells requests of the same subresource apart.
func mergedOutcomes(created, got map[string]error) map[string]error {
	merged := map[string]error{}
	for subresource, err := range created {
		merged["create "+subresource] = err
	}
	for subresource, err := range got {
		merged["get "+subresource] = err
	}
	return merged
}

var _ = Describe("An admission policy of the cluster", func() {
	It("has a say in how machines are operated", func(ctx SpecContext) {
		create(ctx, "web-1")
		awaitRunning(ctx, "web-1")
		policies := clientOf(environment.Admin).AdmissionregistrationV1()
		const name = "no-hard-reboots"
		_, err := policies.ValidatingAdmissionPolicies().Create(ctx, &admissionregistrationv1.ValidatingAdmissionPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
				MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
					RuleWithOperations: admissionregistrationv1.RuleWithOperations{
						Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
						Rule: admissionregistrationv1.Rule{
							APIGroups: []string{"compute.unikorn-cloud.org"}, APIVersions: []string{"v1beta1"}, Resources: []string{"instances/power"},
						},
					},
				}}},
				Validations: []admissionregistrationv1.Validation{{Expression: "object.spec.action != 'HardReboot'", Message: "not by force"}},
			},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) {
			Expect(policies.ValidatingAdmissionPolicies().Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
		})
		_, err = policies.ValidatingAdmissionPolicyBindings().Create(ctx, &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
				PolicyName: name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
			},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) {
			Expect(policies.ValidatingAdmissionPolicyBindings().Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
		})

		Eventually(func(ctx context.Context) error {
			_, err := switchPower(ctx, inAlpha(), "web-1", v1beta1.PowerActionHardReboot, metav1.DryRunAll)
			return err
		}).WithContext(ctx).Should(MatchError(ContainSubstring("not by force")))
		_, err = switchPower(ctx, inAlpha(), "web-1", v1beta1.PowerActionReboot)
		Expect(err).NotTo(HaveOccurred())
	})
})
