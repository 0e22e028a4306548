// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"context"
	"fmt"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/quota"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/fault"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/settings"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

// onlyServer is the one server there is.
func onlyServer(ctx context.Context) region.Server {
	GinkgoHelper()
	servers, err := Simulator().Servers(ctx)
	Expect(err).NotTo(HaveOccurred())
	Expect(servers).To(HaveLen(1))
	return servers[0]
}

// change sends alpha-editor's merge patch of a spec.
func change(ctx context.Context, name, spec string) *v1beta1.Instance {
	GinkgoHelper()
	changed, err := Merge(ctx, environment.AlphaEditor, name, `{"spec":`+spec+`}`)
	Expect(err).NotTo(HaveOccurred())
	return changed
}

// serverCalls are how often a server was made, changed and removed since
// requests were forgotten.
func serverCalls(ctx context.Context) (made, changed, removed int) {
	GinkgoHelper()
	return Tries(ctx, http.MethodPost, "/servers"), Tries(ctx, http.MethodPut, "/servers/"), Tries(ctx, http.MethodDelete, "/servers/")
}

var _ = Describe("A change of", func() {
	var before region.Server
	BeforeEach(func(ctx SpecContext) {
		Create(ctx, "web-1", public)
		AwaitInPlace(ctx, "web-1")
		before = onlyServer(ctx)
		ForgetRequests(ctx)
	})

	It("networking is made in place, and the server keeps its addresses", func(ctx SpecContext) {
		change(ctx, "web-1", fmt.Sprintf(`{"networking":{"securityGroupIDs":[%q],"allowedSourceAddresses":["10.9.0.0/24"]}}`, AlphaGroup))
		instance := AwaitInPlace(ctx, "web-1")
		after := onlyServer(ctx)
		Expect(after.Spec.Networking).To(Equal(&region.ServerNetworking{
			PublicIP: true, SecurityGroups: []ids.SecurityGroupID{AlphaGroup}, AllowedSourceAddresses: []string{"10.9.0.0/24"},
		}))
		Expect(after.Status).To(Equal(before.Status))
		Expect(instance.Status.PrivateIP).To(Equal(before.Status.PrivateIP))
		Expect(instance.Status.PublicIP).To(Equal(before.Status.PublicIP))
		made, changed, removed := serverCalls(ctx)
		Expect([]int{made, changed, removed}).To(Equal([]int{0, 1, 0}))
	})

	for _, style := range []string{settings.RebuildNew, settings.RebuildOld} {
		It("image rebuilds the server in place, which keeps its addresses, in the style called "+style, func(ctx SpecContext) {
			WithSettings(ctx, func(s *settings.Settings) { s.RebuildStyle, s.RebuildMillis = style, 1500 })
			change(ctx, "web-1", fmt.Sprintf(`{"imageID":%q}`, Ubuntu2))
			Eventually(func(g Gomega) {
				rebuilding := Get(ctx, "web-1")
				g.Expect(rebuilding.Status.PowerState).To(BeElementOf(v1beta1.PowerStateRebuilding, v1beta1.PowerStateBuilding))
				g.Expect(ConditionOf(rebuilding, v1beta1.ConditionReady).Status).To(Equal(metav1.ConditionFalse))
			}).Should(Succeed())
			instance := AwaitInPlace(ctx, "web-1")
			after := onlyServer(ctx)
			Expect(after.Spec.ImageID).To(Equal(Ubuntu2))
			Expect(after.Metadata.CreationTime).To(Equal(before.Metadata.CreationTime))
			Expect(after.Status).To(Equal(before.Status))
			Expect(instance.Status.PrivateIP).To(Equal(before.Status.PrivateIP))
			Expect(instance.Status.MACAddress).To(Equal(before.Status.MacAddress))
			made, changed, removed := serverCalls(ctx)
			Expect([]int{made, changed, removed}).To(Equal([]int{0, 1, 0}))
		})
	}

	DescribeTable("what region cannot change replaces the server by another: of the",
		func(ctx SpecContext, patch string, cost quota.Cost, matched func(region.Server)) {
			change(ctx, "web-1", patch)
			AwaitInPlace(ctx, "web-1")
			after := onlyServer(ctx)
			matched(after)
			Expect(after.Status.MacAddress).NotTo(Equal(before.Status.MacAddress), "it is another machine")
			made, changed, removed := serverCalls(ctx)
			Expect([]int{made, changed, removed}).To(Equal([]int{1, 0, 1}))
			Eventually(bill).WithContext(ctx).Should(Equal(cost))
		},
		Entry("flavor", fmt.Sprintf(`{"flavorID":%q}`, Gpu), quota.Cost{Servers: 1, GPUs: 1, Addresses: 1}, func(server region.Server) {
			Expect(server.Spec.FlavorID).To(Equal(Gpu))
		}),
		Entry("authority", fmt.Sprintf(`{"sshCertificateAuthorityID":%q}`, AlphaAuthority), quota.Cost{Servers: 1, Addresses: 1}, func(server region.Server) {
			Expect(server.Status.SSHCertificateAuthorityID).To(Equal(AlphaAuthority))
			Expect(server.Status.SSHInjection).To(Equal(region.SSHInjectionCA))
		}),
	)

	It("nothing that the server has is not the server's business", func(ctx SpecContext) {
		changed := change(ctx, "web-1", `{"tags":[{"name":"env","value":"prod"}]}`)
		Expect(AwaitInPlace(ctx, "web-1").Generation).To(Equal(changed.Generation))
		made, updated, removed := serverCalls(ctx)
		Expect([]int{made, updated, removed}).To(Equal([]int{0, 0, 0}))
	})

	It("a paused Instance waits, while deletion does not", func(ctx SpecContext) {
		change(ctx, "web-1", fmt.Sprintf(`{"paused":true,"imageID":%q}`, Ubuntu2))
		held := AwaitReason(ctx, "web-1", v1alpha1.ReasonPaused)
		Expect(held.Status.PowerState).To(Equal(v1beta1.PowerStateRunning), "what the machine does is still shown")
		Expect(ConditionOf(held, v1beta1.ConditionReady).Reason).To(Equal(v1alpha1.ReasonPaused))
		made, changed, removed := serverCalls(ctx)
		Expect([]int{made, changed, removed}).To(Equal([]int{0, 0, 0}))

		change(ctx, "web-1", `{"paused":false}`)
		AwaitInPlace(ctx, "web-1")
		Expect(onlyServer(ctx).Spec.ImageID).To(Equal(Ubuntu2))

		change(ctx, "web-1", fmt.Sprintf(`{"paused":true,"imageID":%q}`, Ubuntu))
		AwaitReason(ctx, "web-1", v1alpha1.ReasonPaused)
		deleteNow(ctx, "web-1")
		Eventually(Get).WithContext(ctx).WithArguments("web-1").Should(BeNil())
		Expect(Machines(ctx)).To(BeEmpty())
		Expect(Charged(ctx)).To(BeEmpty())
	})
})

// expectParked fails the spec unless an Instance says that the platform will
// not do more for it as it is.
func expectParked(instance *v1beta1.Instance, reason string) {
	GinkgoHelper()
	Expect(ConditionOf(instance, v1beta1.ConditionStalled)).To(And(HaveField("Status", metav1.ConditionTrue), HaveField("Reason", reason)))
	Expect(ConditionOf(instance, v1beta1.ConditionReady)).To(And(HaveField("Status", metav1.ConditionFalse), HaveField("Reason", reason)))
}

var _ = Describe("The controller", func() {
	It("does not adopt what has the name, says so, and leaves it alone", func(ctx SpecContext) {
		foreign := region.Server{Metadata: unikorn.ProjectScopedReadMetadata{Name: "web-1"}}
		foreign.Spec.FlavorID, foreign.Spec.ImageID, foreign.Status.NetworkID = Standard, Ubuntu, AlphaNet
		planted, err := Simulator().PlantServer(ctx, foreign)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) { Expect(Simulator().UprootServer(ctx, planted.ID())).To(Succeed()) })

		Create(ctx, "web-1")
		taken := AwaitReason(ctx, "web-1", v1alpha1.ReasonNameTaken)
		expectParked(taken, v1alpha1.ReasonNameTaken)
		Expect(taken.Status.PrivateIP).To(BeEmpty())
		Expect(taken.Status.PowerState).To(BeEmpty())
		Expect(Charged(ctx)).To(HaveLen(1), "until it is deleted")

		deleteNow(ctx, "web-1")
		Eventually(Get).WithContext(ctx).WithArguments("web-1").Should(BeNil())
		Expect(Charged(ctx)).To(BeEmpty())
		left := onlyServer(ctx)
		Expect(left).To(Equal(planted))
	})

	It("does not make a server on a network of another owner than the labels say", func(ctx SpecContext) {
		ForgetRequests(ctx)
		name := Plant(ctx, NewComputeInstance("web-1", func(object *v1alpha1.ComputeInstance) {
			object.Labels[v1alpha1.LabelNetwork] = string(BetaNet)
		}))
		expectParked(AwaitReason(ctx, name, v1alpha1.ReasonOwnerMismatch), v1alpha1.ReasonOwnerMismatch)
		made, _, _ := serverCalls(ctx)
		Expect(made).To(BeZero())
		Expect(Charged(ctx)).To(BeEmpty())
		deleteNow(ctx, name)
		Eventually(Get).WithContext(ctx).WithArguments(name).Should(BeNil())
	})

	It("parks what region refuses, and tries again when the spec changes", func(ctx SpecContext) {
		WithFaults(ctx, fault.Fault{Service: "region", Method: http.MethodPost, Path: "/servers$", Status: ptr.To(http.StatusUnprocessableEntity)})
		Create(ctx, "web-1")
		expectParked(AwaitReason(ctx, "web-1", v1alpha1.ReasonErrored), v1alpha1.ReasonErrored)
		Expect(Simulator().ClearFaults(ctx)).To(Succeed())
		ForgetRequests(ctx)

		// Another instance is made meanwhile: the controller is not idle.
		Create(ctx, "web-2")
		AwaitInPlace(ctx, "web-2")
		made, _, _ := serverCalls(ctx)
		Expect(made).To(Equal(1))
		expectParked(Get(ctx, "web-1"), v1alpha1.ReasonErrored)

		change(ctx, "web-1", `{"tags":[{"name":"try","value":"again"}]}`)
		Expect(ConditionOf(AwaitInPlace(ctx, "web-1"), v1beta1.ConditionStalled).Status).NotTo(Equal(metav1.ConditionTrue))
	})

	It("makes a server again that was removed behind its back", func(ctx SpecContext) {
		Create(ctx, "web-1")
		AwaitInPlace(ctx, "web-1")
		before := onlyServer(ctx)
		Expect(Simulator().UprootServer(ctx, before.ID())).To(Succeed())
		Eventually(Machines).WithContext(ctx).Should(Equal([]string{"web-1"}))
		Expect(onlyServer(ctx).Status.PrivateIP).NotTo(Equal(before.Status.PrivateIP))
		Eventually(func() string { return Get(ctx, "web-1").Status.PrivateIP }).Should(And(Not(BeEmpty()), Not(Equal(before.Status.PrivateIP))))
		AwaitInPlace(ctx, "web-1")
		Expect(Charged(ctx)).To(HaveLen(1))
	})

	It("says what is missing when region makes no server of it and does not say why", func(ctx SpecContext) {
		WithSettings(ctx, func(s *settings.Settings) { s.EmptyLists = settings.EmptyListsDrop })
		name := Plant(ctx, NewComputeInstance("web-1", func(object *v1alpha1.ComputeInstance) { object.Spec.ImageID = MissingImage }))
		missing := AwaitReason(ctx, name, v1alpha1.ReasonDependencyNotFound)
		Expect(ConditionOf(missing, v1beta1.ConditionAvailable).Message).To(ContainSubstring("image"))
		Expect(Machines(ctx)).To(BeEmpty())
	})
})
