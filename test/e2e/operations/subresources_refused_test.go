// SPDX-License-Identifier: Apache-2.0

package operations

import (
	"context"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/acl"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/fault"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

var _ = Describe("The subresources of an Instance", Ordered, func() {
	const name = "web-1"
	var instance *v1beta1.Instance

	BeforeAll(func(ctx SpecContext) {
		Create(ctx, name)
		instance = AwaitRunning(ctx, name)
	})

	expectAll := func(outcome map[string]error, wanted OmegaMatcher) {
		GinkgoHelper()
		for subresource, err := range outcome {
			Expect(err).To(wanted, subresource)
		}
	}

	Context("to a viewer", func() {
		It("are there to be read", func(ctx SpecContext) {
			expectAll(readings(ctx, Instances(environment.AlphaViewer, Alpha), name), Not(HaveOccurred()))
		})

		It("are not there to be used", func(ctx SpecContext) {
			for _, dryRun := range [][]string{nil, {metav1.DryRunAll}} {
				expectAll(attempts(ctx, Instances(environment.AlphaViewer, Alpha), name, dryRun...), BeRefused(403, metav1.StatusReasonForbidden))
			}
		})
	})

	It("are nothing to somebody of another project", func(ctx SpecContext) {
		stranger := Instances(environment.BetaEditor, Alpha)
		expectAll(readings(ctx, stranger, name), BeRefused(403, metav1.StatusReasonForbidden))
		expectAll(attempts(ctx, stranger, name), BeRefused(403, metav1.StatusReasonForbidden))
	})

	It("of one that does not exist are 404", func(ctx SpecContext) {
		expectAll(readings(ctx, InAlpha(), "web-9"), BeRefused(404, metav1.StatusReasonNotFound))
		expectAll(attempts(ctx, InAlpha(), "web-9"), BeRefused(404, metav1.StatusReasonNotFound))
	})

	It("of one that is being deleted are for looking on and stopping", func(ctx SpecContext) {
		const going = "web-2"
		Create(ctx, going)
		AwaitRunning(ctx, going)
		WithFaults(ctx, fault.Fault{Service: "region", Method: http.MethodDelete, Status: ptr.To(http.StatusServiceUnavailable)})
		Expect(InAlpha().Delete(ctx, going, metav1.DeleteOptions{})).To(Succeed())
		refused := And(BeRefused(409, metav1.StatusReasonConflict), MatchError(ContainSubstring("the instance is being deleted")))
		for _, dryRun := range [][]string{{metav1.DryRunAll}, nil} {
			outcome := attempts(ctx, InAlpha(), going, dryRun...)
			Expect(outcome["snapshot"]).To(refused)
			Expect(outcome["console"]).NotTo(HaveOccurred())
			for _, action := range []v1beta1.PowerAction{v1beta1.PowerActionStart, v1beta1.PowerActionReboot, v1beta1.PowerActionHardReboot} {
				_, err := switchPower(ctx, InAlpha(), going, action, dryRun...)
				Expect(err).To(refused, string(action))
			}
			_, err := switchPower(ctx, InAlpha(), going, v1beta1.PowerActionStop, dryRun...)
			Expect(err).NotTo(HaveOccurred())
		}
	})

	It("are not used by whom the platform does not know, whatever the cluster allows", func(ctx SpecContext) {
		Expect(Simulator().SetRoles(ctx, environment.AlphaEditor, nil)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			Expect(Simulator().SetRoles(ctx, environment.AlphaEditor, map[ids.ProjectID]acl.Role{alphaID: acl.RoleEditor})).To(Succeed())
		})
		Expect(May(ctx, environment.AlphaEditor, "create", "instances", "power", Alpha)).To(BeTrue())
		Expect(Simulator().ForgetRequests(ctx)).To(Succeed())
		for _, dryRun := range [][]string{nil, {metav1.DryRunAll}} {
			expectAll(attempts(ctx, InAlpha(), name, dryRun...), BeRefused(403, metav1.StatusReasonForbidden))
		}
		for _, effect := range []string{"/softreboot", "/consolesessions", "/snapshot", "/sshkey"} {
			Expect(requestsOf(ctx, effect)).To(BeEmpty(), effect)
		}
		expectAll(readings(ctx, InAlpha(), name), Not(HaveOccurred()))
	})

	It("are for those who operate the platform, whom the platform does not know", func(ctx SpecContext) {
		expectAll(attempts(ctx, Instances(environment.Admin, Alpha), name), Not(HaveOccurred()))
	})

	It("are nobody's where the namespace has come to be another project's", func(ctx SpecContext) {
		rebind := func(ctx context.Context, project ids.ProjectID) {
			GinkgoHelper()
			_, err := ClientOf(environment.Admin).CoreV1().Namespaces().Patch(ctx, Alpha, types.MergePatchType,
				[]byte(`{"metadata":{"labels":{"unikorn-cloud.org/project":"`+string(project)+`"}}}`), metav1.PatchOptions{})
			Expect(err).NotTo(HaveOccurred())
		}
		rebind(ctx, "0a000000-0000-4000-8000-0000000000af")
		DeferCleanup(func(ctx SpecContext) { rebind(ctx, alphaID) })
		expectAll(readings(ctx, InAlpha(), name), BeRefused(403, metav1.StatusReasonForbidden))
		expectAll(attempts(ctx, InAlpha(), name), BeRefused(403, metav1.StatusReasonForbidden))
		response, _ := raw(ctx, environment.AlphaViewer, http.MethodGet, listPath+"/web-1/status", "")
		Expect(response.StatusCode).To(Equal(http.StatusOK))
	})

	It("do not do twice what the platform may have done", func(ctx SpecContext) {
		DeferCleanup(func(ctx SpecContext) { Expect(Simulator().ClearFaults(ctx)).To(Succeed()) })
		for verb, request := range map[string]func() error{
			"/softreboot": func() error { _, err := switchPower(ctx, InAlpha(), name, v1beta1.PowerActionReboot); return err },
			"/hardreboot": func() error { _, err := switchPower(ctx, InAlpha(), name, v1beta1.PowerActionHardReboot); return err },
			"/snapshot": func() error {
				_, err := InAlpha().CreateSnapshot(ctx, name, snapshot("lost"), metav1.CreateOptions{})
				return err
			},
		} {
			Expect(Simulator().ForgetRequests(ctx)).To(Succeed())
			Expect(Simulator().SetFaults(ctx, fault.Fault{Service: "region", Path: verb + "$", AfterCommit: true})).To(Succeed())
			err := request()
			Expect(err).To(BeRefused(503, metav1.StatusReasonServiceUnavailable), verb)
			Expect(err).To(MatchError(ContainSubstring("whether it was done is not known")), verb)
			Expect(requestsOf(ctx, verb)).To(HaveLen(1), verb)
		}
	})

	It("say to try again where nothing was done", func(ctx SpecContext) {
		DeferCleanup(func(ctx SpecContext) { Expect(Simulator().ClearFaults(ctx)).To(Succeed()) })
		Expect(Simulator().SetFaults(ctx, fault.Fault{Service: "region", Path: "/stop$", Status: ptr.To(503), Times: 1})).To(Succeed())
		Expect(Simulator().ForgetRequests(ctx)).To(Succeed())
		// The client does what it is told.
		_, err := switchPower(ctx, InAlpha(), name, v1beta1.PowerActionStop)
		Expect(err).NotTo(HaveOccurred())
		Expect(requestsOf(ctx, "/stop")).To(HaveLen(2))
		Eventually(powerOf).WithContext(ctx).WithArguments(name).Should(Equal(v1beta1.PowerStateStopped))
	})

	Context("with no server or several behind it", Ordered, func() {
		BeforeAll(func(ctx SpecContext) {
			// Nothing puts the servers right while it is paused.
			_, err := InAlpha().Patch(ctx, name, types.MergePatchType, []byte(`{"spec":{"paused":true}}`), metav1.PatchOptions{})
			Expect(err).NotTo(HaveOccurred())
		})

		inconsistent := func(ctx context.Context, count string) {
			GinkgoHelper()
			// What the simulator was just told shows with its read lag.
			Eventually(func(ctx context.Context) error { return readings(ctx, InAlpha(), name)["power"] }).WithContext(ctx).
				Should(MatchError(ContainSubstring(count + " servers")))
			for subresource, err := range mergedOutcomes(attempts(ctx, InAlpha(), name), readings(ctx, InAlpha(), name)) {
				Expect(err).To(BeRefused(500, metav1.StatusReasonInternalError), subresource)
				cause, found := apierrors.StatusCause(err, v1beta1.CauseConsistencyError)
				Expect(found).To(BeTrue(), subresource)
				Expect(cause.Message).To(HavePrefix(count+" servers"), subresource)
			}
		}

		It("of two say so", func(ctx SpecContext) {
			planted, err := Simulator().PlantServer(ctx, plantedFor(instance, "impostor"))
			Expect(err).NotTo(HaveOccurred())
			DeferCleanup(func(ctx SpecContext) { Expect(Simulator().UprootServer(ctx, planted.ID())).To(Succeed()) })
			inconsistent(ctx, "2")
		})

		It("of none say so", func(ctx SpecContext) {
			servers, err := Simulator().Servers(ctx)
			Expect(err).NotTo(HaveOccurred())
			for _, server := range servers {
				Expect(Simulator().UprootServer(ctx, server.ID())).To(Succeed())
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
		Create(ctx, "web-1")
		AwaitRunning(ctx, "web-1")
		Deny(ctx, "no-hard-reboots", Denial{
			Version: "v1beta1", Resource: "instances/power", Unless: "object.spec.action != 'HardReboot'", Message: "not by force",
		})
		Eventually(func(ctx context.Context) error {
			_, err := switchPower(ctx, InAlpha(), "web-1", v1beta1.PowerActionHardReboot, metav1.DryRunAll)
			return err
		}).WithContext(ctx).Should(MatchError(ContainSubstring("not by force")))
		_, err := switchPower(ctx, InAlpha(), "web-1", v1beta1.PowerActionReboot)
		Expect(err).NotTo(HaveOccurred())
	})
})
