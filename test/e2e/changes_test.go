// SPDX-License-Identifier: Apache-2.0

package e2e

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
)

// onlyServer is the one server there is.
func onlyServer(ctx context.Context) region.Server {
	GinkgoHelper()
	servers, err := simulator().Servers(ctx)
	Expect(err).NotTo(HaveOccurred())
	Expect(servers).To(HaveLen(1))
	return servers[0]
}

// change sends alpha-editor's merge patch of a spec.
func change(ctx context.Context, name, spec string) *v1beta1.Instance {
	GinkgoHelper()
	changed, err := merge(ctx, environment.AlphaEditor, name, `{"spec":`+spec+`}`)
	Expect(err).NotTo(HaveOccurred())
	return changed
}

// serverCalls are how often a server was made, changed and removed since
// requests were forgotten.
func serverCalls(ctx context.Context) (made, changed, removed int) {
	GinkgoHelper()
	return tries(ctx, http.MethodPost, "/servers"), tries(ctx, http.MethodPut, "/servers/"), tries(ctx, http.MethodDelete, "/servers/")
}

var _ = Describe("A change of", func() {
	var before region.Server
	BeforeEach(func(ctx SpecContext) {
		create(ctx, "web-1", public)
		awaitInPlace(ctx, "web-1")
		before = onlyServer(ctx)
		forgetRequests(ctx)
	})

	It("networking is made in place, and the server keeps its addresses", func(ctx SpecContext) {
		change(ctx, "web-1", fmt.Sprintf(`{"networking":{"securityGroupIDs":[%q],"allowedSourceAddresses":["10.9.0.0/24"]}}`, alphaGroup))
		instance := awaitInPlace(ctx, "web-1")
		after := onlyServer(ctx)
		Expect(after.Spec.Networking).To(Equal(&region.ServerNetworking{
			PublicIP: true, SecurityGroups: []ids.SecurityGroupID{alphaGroup}, AllowedSourceAddresses: []string{"10.9.0.0/24"},
		}))
		Expect(after.Status).To(Equal(before.Status))
		Expect(instance.Status.PrivateIP).To(Equal(before.Status.PrivateIP))
		Expect(instance.Status.PublicIP).To(Equal(before.Status.PublicIP))
		made, changed, removed := serverCalls(ctx)
		Expect([]int{made, changed, removed}).To(Equal([]int{0, 1, 0}))
	})

	for _, style := range []string{settings.RebuildNew, settings.RebuildOld} {
		It("image rebuilds the server in place, which keeps its addresses, in the style called "+style, func(ctx SpecContext) {
			withSettings(ctx, func(s *settings.Settings) { s.RebuildStyle, s.RebuildMillis = style, 1500 })
			change(ctx, "web-1", fmt.Sprintf(`{"imageID":%q}`, ubuntu2))
			Eventually(func(g Gomega) {
				rebuilding := get(ctx, "web-1")
				g.Expect(rebuilding.Status.PowerState).To(BeElementOf(v1beta1.PowerStateRebuilding, v1beta1.PowerStateBuilding))
				g.Expect(conditionOf(rebuilding, v1beta1.ConditionReady).Status).To(Equal(metav1.ConditionFalse))
			}).Should(Succeed())
			instance := awaitInPlace(ctx, "web-1")
			after := onlyServer(ctx)
			Expect(after.Spec.ImageID).To(Equal(ubuntu2))
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
			awaitInPlace(ctx, "web-1")
			after := onlyServer(ctx)
			matched(after)
			Expect(after.Status.MacAddress).NotTo(Equal(before.Status.MacAddress), "it is another machine")
			made, changed, removed := serverCalls(ctx)
			Expect([]int{made, changed, removed}).To(Equal([]int{1, 0, 1}))
			Eventually(bill).WithContext(ctx).Should(Equal(cost))
		},
		Entry("flavor", fmt.Sprintf(`{"flavorID":%q}`, gpu), quota.Cost{Servers: 1, GPUs: 1, Addresses: 1}, func(server region.Server) {
			Expect(server.Spec.FlavorID).To(Equal(gpu))
		}),
		Entry("authority", fmt.Sprintf(`{"sshCertificateAuthorityID":%q}`, alphaAuthority), quota.Cost{Servers: 1, Addresses: 1}, func(server region.Server) {
			Expect(server.Status.SSHCertificateAuthorityID).To(Equal(alphaAuthority))
			Expect(server.Status.SSHInjection).To(Equal(region.SSHInjectionCA))
		}),
	)

	It("nothing that the server has is not the server's business", func(ctx SpecContext) {
		changed := change(ctx, "web-1", `{"tags":[{"name":"env","value":"prod"}]}`)
		Expect(awaitInPlace(ctx, "web-1").Generation).To(Equal(changed.Generation))
		made, updated, removed := serverCalls(ctx)
		Expect([]int{made, updated, removed}).To(Equal([]int{0, 0, 0}))
	})

	It("a paused Instance waits, while deletion does not", func(ctx SpecContext) {
		change(ctx, "web-1", fmt.Sprintf(`{"paused":true,"imageID":%q}`, ubuntu2))
		held := awaitReason(ctx, "web-1", v1alpha1.ReasonPaused)
		Expect(held.Status.PowerState).To(Equal(v1beta1.PowerStateRunning), "what the machine does is still shown")
		Expect(conditionOf(held, v1beta1.ConditionReady).Reason).To(Equal(v1alpha1.ReasonPaused))
		made, changed, removed := serverCalls(ctx)
		Expect([]int{made, changed, removed}).To(Equal([]int{0, 0, 0}))

		change(ctx, "web-1", `{"paused":false}`)
		awaitInPlace(ctx, "web-1")
		Expect(onlyServer(ctx).Spec.ImageID).To(Equal(ubuntu2))

		change(ctx, "web-1", fmt.Sprintf(`{"paused":true,"imageID":%q}`, ubuntu))
		awaitReason(ctx, "web-1", v1alpha1.ReasonPaused)
		deleteNow(ctx, "web-1")
		Eventually(get).WithContext(ctx).WithArguments("web-1").Should(BeNil())
		Expect(machines(ctx)).To(BeEmpty())
		Expect(charged(ctx)).To(BeEmpty())
	})
})

// expectParked fails the spec unless an Instance says that the platform will
// not do more for it as it is.
func expectParked(instance *v1beta1.Instance, reason string) {
	GinkgoHelper()
	Expect(conditionOf(instance, v1beta1.ConditionStalled)).To(And(HaveField("Status", metav1.ConditionTrue), HaveField("Reason", reason)))
	Expect(conditionOf(instance, v1beta1.ConditionReady)).To(And(HaveField("Status", metav1.ConditionFalse), HaveField("Reason", reason)))
}

var _ = Describe("The controller", func() {
	It("does not adopt what has the name, says so, and leaves it alone", func(ctx SpecContext) {
		foreign := region.Server{Metadata: unikorn.ProjectScopedReadMetadata{Name: "web-1"}}
		foreign.Spec.FlavorID, foreign.Spec.ImageID, foreign.Status.NetworkID = standard, ubuntu, alphaNet
		planted, err := simulator().PlantServer(ctx, foreign)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) { Expect(simulator().UprootServer(ctx, planted.ID())).To(Succeed()) })

		create(ctx, "web-1")
		taken := awaitReason(ctx, "web-1", v1alpha1.ReasonNameTaken)
		expectParked(taken, v1alpha1.ReasonNameTaken)
		Expect(taken.Status.PrivateIP).To(BeEmpty())
		Expect(taken.Status.PowerState).To(BeEmpty())
		Expect(charged(ctx)).To(HaveLen(1), "until it is deleted")

		deleteNow(ctx, "web-1")
		Eventually(get).WithContext(ctx).WithArguments("web-1").Should(BeNil())
		Expect(charged(ctx)).To(BeEmpty())
		left := onlyServer(ctx)
		Expect(left).To(Equal(planted))
	})

	It("does not make a server on a network of another owner than the labels say", func(ctx SpecContext) {
		forgetRequests(ctx)
		name := plant(ctx, newComputeInstance("web-1", func(object *v1alpha1.ComputeInstance) {
			object.Labels[v1alpha1.LabelNetwork] = string(betaNet)
		}))
		expectParked(awaitReason(ctx, name, v1alpha1.ReasonOwnerMismatch), v1alpha1.ReasonOwnerMismatch)
		made, _, _ := serverCalls(ctx)
		Expect(made).To(BeZero())
		Expect(charged(ctx)).To(BeEmpty())
		deleteNow(ctx, name)
		Eventually(get).WithContext(ctx).WithArguments(name).Should(BeNil())
	})

	It("parks what region refuses, and tries again when the spec changes", func(ctx SpecContext) {
		withFaults(ctx, fault.Fault{Service: "region", Method: http.MethodPost, Path: "/servers$", Status: ptr.To(http.StatusUnprocessableEntity)})
		create(ctx, "web-1")
		expectParked(awaitReason(ctx, "web-1", v1alpha1.ReasonErrored), v1alpha1.ReasonErrored)
		Expect(simulator().ClearFaults(ctx)).To(Succeed())
		forgetRequests(ctx)

		// Another instance is made meanwhile: the controller is not idle.
		create(ctx, "web-2")
		awaitInPlace(ctx, "web-2")
		made, _, _ := serverCalls(ctx)
		Expect(made).To(Equal(1))
		expectParked(get(ctx, "web-1"), v1alpha1.ReasonErrored)

		change(ctx, "web-1", `{"tags":[{"name":"try","value":"again"}]}`)
		Expect(conditionOf(awaitInPlace(ctx, "web-1"), v1beta1.ConditionStalled).Status).NotTo(Equal(metav1.ConditionTrue))
	})

	It("makes a server again that was removed behind its back", func(ctx SpecContext) {
		create(ctx, "web-1")
		awaitInPlace(ctx, "web-1")
		before := onlyServer(ctx)
		Expect(simulator().UprootServer(ctx, before.ID())).To(Succeed())
		Eventually(machines).WithContext(ctx).Should(Equal([]string{"web-1"}))
		Expect(onlyServer(ctx).Status.PrivateIP).NotTo(Equal(before.Status.PrivateIP))
		Eventually(func() string { return get(ctx, "web-1").Status.PrivateIP }).Should(And(Not(BeEmpty()), Not(Equal(before.Status.PrivateIP))))
		awaitInPlace(ctx, "web-1")
		Expect(charged(ctx)).To(HaveLen(1))
	})

	It("says what is missing when region makes no server of it and does not say why", func(ctx SpecContext) {
		withSettings(ctx, func(s *settings.Settings) { s.EmptyLists = settings.EmptyListsDrop })
		name := plant(ctx, newComputeInstance("web-1", func(object *v1alpha1.ComputeInstance) { object.Spec.ImageID = missingImage }))
		missing := awaitReason(ctx, name, v1alpha1.ReasonDependencyNotFound)
		Expect(conditionOf(missing, v1beta1.ConditionAvailable).Message).To(ContainSubstring("image"))
		Expect(machines(ctx)).To(BeEmpty())
	})
})
