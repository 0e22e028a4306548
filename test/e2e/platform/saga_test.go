// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"context"
	"net/http"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/identity"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/quota"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/fault"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/settings"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

// sweep deletes all allocations of project alpha, as an operator or a sweeper
// of the platform does.
func sweep(ctx context.Context) {
	GinkgoHelper()
	pki := func(file string) string { return filepath.Join(string(Env.Folder), "pki", file) }
	files, err := unikorn.NewTLSFiles(pki("ca.crt"), pki("unikorn-compute.crt"), pki("unikorn-compute.key"))
	Expect(err).NotTo(HaveOccurred())
	client, err := identity.New(unikorn.Config{Host: "https://" + AddressOf("identity"), TLS: files})
	Expect(err).NotTo(HaveOccurred())
	credential := principal.Service(principal.Principal{
		OrganizationID: world.Acme, OrganizationIDs: []ids.OrganizationID{world.Acme}, ProjectID: world.Alpha,
		Type: principal.TypeService, Actor: "sweeper",
	})
	held, err := Simulator().Allocations(ctx)
	Expect(err).NotTo(HaveOccurred())
	for _, allocation := range held {
		Expect(client.DeleteAllocation(ctx, credential, world.Acme, world.Alpha, allocation.ID())).To(Succeed())
	}
}

var unavailable = ptr.To(http.StatusServiceUnavailable)

var _ = Describe("A charge", func() {
	DescribeTable("whose answer is lost is not repeated by anybody, and nothing is stored",
		func(ctx SpecContext, lost fault.Fault, left int) {
			lost.Service, lost.Method, lost.Path = "identity", http.MethodPost, "/allocations$"
			WithFaults(ctx, lost)
			ForgetRequests(ctx)
			// A client that repeats what it is told to repeat.
			_, err := InAlpha().Create(ctx, NewInstance("web-1"), metav1.CreateOptions{})
			Expect(err).To(BeRefused(http.StatusGatewayTimeout, metav1.StatusReasonTimeout))
			Expect(Tries(ctx, http.MethodPost, "/allocations")).To(Equal(1))
			Expect(Tries(ctx, http.MethodDelete, "/allocations")).To(BeZero())
			Expect(Get(ctx, "web-1")).To(BeNil())
			// What was charged all the same is for a sweeper, who knows it by its
			// name.
			held, err := Simulator().Allocations(ctx)
			Expect(err).NotTo(HaveOccurred())
			Expect(held).To(HaveLen(left))
			for _, allocation := range held {
				Expect(allocation.Metadata.Name).To(Equal("k8s-" + clusterUID(ctx)))
			}
			sweep(ctx)
		},
		Entry("dropped, and charged", fault.Fault{Status: ptr.To(0), AfterCommit: true}, 1),
		Entry("an error, and charged", fault.Fault{Status: unavailable, AfterCommit: true}, 1),
		Entry("cut, and charged", fault.Fault{TruncateBytes: 20}, 1),
		Entry("dropped, not charged", fault.Fault{Status: ptr.To(0)}, 0),
		Entry("an error, not charged", fault.Fault{Status: ptr.To(http.StatusInternalServerError)}, 0),
	)

	It("that was turned away unseen is repeated by the client, and made once", func(ctx SpecContext) {
		WithFaults(ctx, fault.Fault{Service: "identity", Method: http.MethodPost, Status: ptr.To(http.StatusTooManyRequests), Times: 1})
		ForgetRequests(ctx)
		Create(ctx, "web-1")
		Expect(Tries(ctx, http.MethodPost, "/allocations")).To(Equal(2))
		Expect(Charged(ctx)).To(HaveLen(1))
	})

	It("for what the cluster refuses to store is given back, however often identity fails at that", func(ctx SpecContext) {
		refuseToStore(ctx)
		WithFaults(ctx, fault.Fault{Service: "identity", Method: http.MethodDelete, Path: "/allocations/", Status: ptr.To(http.StatusInternalServerError), Times: 2})
		ForgetRequests(ctx)
		err := createOnce(ctx, NewInstance("web-1", Labelled("e2e", "refused")))
		Expect(err).To(MatchError(ContainSubstring("not today")))
		Expect(Tries(ctx, http.MethodPost, "/allocations")).To(Equal(1))
		Eventually(Charged).WithContext(ctx).Should(BeEmpty())
		Expect(Tries(ctx, http.MethodDelete, "/allocations/")).To(Equal(3))
	})

	It("for what the cluster refuses to store, of a project that has vanished meanwhile, is not given back for ever", func(ctx SpecContext) {
		refuseToStore(ctx)
		WithFaults(ctx,
			fault.Fault{Service: "identity", Method: http.MethodDelete, Path: "/allocations/", Status: ptr.To(http.StatusInternalServerError)},
			fault.Fault{Service: "identity", Method: http.MethodGet, Path: "/projects/[^/]*$", Status: ptr.To(http.StatusNotFound)})
		ForgetRequests(ctx)
		err := createOnce(ctx, NewInstance("web-1", Labelled("e2e", "refused")))
		Expect(err).To(MatchError(ContainSubstring("not today")))
		// It is given up before the answer.
		Expect(Tries(ctx, http.MethodDelete, "/allocations/")).To(Equal(1))
		Expect(Tries(ctx, http.MethodGet, "/projects/"+string(world.Alpha))).To(Equal(1))
		Expect(Simulator().ClearFaults(ctx)).To(Succeed())
		sweep(ctx)
	})
})

// clusterUID is by what the cluster is known to the platform.
func clusterUID(ctx context.Context) string {
	GinkgoHelper()
	namespace, err := ClientOf(environment.Admin).CoreV1().Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	return string(namespace.UID)
}

var _ = Describe("A server", func() {
	DescribeTable("the answer to whose create is lost is made once, and paid for once",
		func(ctx SpecContext, lost fault.Fault) {
			lost.Service, lost.Method, lost.Path, lost.Times = "region", http.MethodPost, "/servers$", 2
			WithFaults(ctx, lost)
			Create(ctx, "web-1")
			AwaitInPlace(ctx, "web-1")
			Expect(Machines(ctx)).To(Equal([]string{"web-1"}))
			Expect(Charged(ctx)).To(HaveLen(1))
		},
		Entry("dropped, and made", fault.Fault{Status: ptr.To(0), AfterCommit: true}),
		Entry("an error, and made", fault.Fault{Status: unavailable, AfterCommit: true}),
		Entry("dropped, not made", fault.Fault{Status: ptr.To(0)}),
	)

	It("that is long in going keeps its Instance, and what it is charged for", func(ctx SpecContext) {
		Create(ctx, "web-1", public)
		AwaitInPlace(ctx, "web-1")
		WithSettings(ctx, func(s *settings.Settings) { s.DeleteMillis = time.Hour.Milliseconds() })
		ForgetRequests(ctx)
		deleteNow(ctx, "web-1")
		// The controller has seen it going, and has looked again.
		Eventually(Tries).WithContext(ctx).WithArguments(http.MethodDelete, "/servers/").Should(Equal(1))
		ForgetRequests(ctx)
		Eventually(Tries).WithContext(ctx).WithArguments(http.MethodGet, "/servers").Should(BeNumerically(">=", 3))
		kept := Get(ctx, "web-1")
		Expect(kept.DeletionTimestamp).NotTo(BeNil())
		Expect(ConditionOf(kept, v1beta1.ConditionAvailable).Reason).To(Equal(v1alpha1.ReasonDeprovisioning))
		Expect(bill(ctx)).To(Equal(quota.Cost{Servers: 1, Addresses: 1}))
		Expect(Tries(ctx, http.MethodDelete, "/allocations/")).To(BeZero())

		uprootAll(ctx)
		Eventually(Get).WithContext(ctx).WithArguments("web-1").Should(BeNil())
		Expect(Charged(ctx)).To(BeEmpty())
	})
})

// deleteNow asks for the deletion of an Instance of namespace alpha.
func deleteNow(ctx context.Context, name string) {
	GinkgoHelper()
	Expect(InAlpha().Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
}

// uprootAll removes all servers behind the platform's back.
func uprootAll(ctx context.Context) {
	GinkgoHelper()
	servers, err := Simulator().Servers(ctx)
	Expect(err).NotTo(HaveOccurred())
	for _, server := range servers {
		Expect(Simulator().UprootServer(ctx, server.ID())).To(Succeed())
	}
}

var _ = Describe("Deletion", func() {
	It("goes through when the allocation is gone already", func(ctx SpecContext) {
		Create(ctx, "web-1")
		AwaitInPlace(ctx, "web-1")
		sweep(ctx)
		ForgetRequests(ctx)
		deleteNow(ctx, "web-1")
		Eventually(Get).WithContext(ctx).WithArguments("web-1").Should(BeNil())
		Expect(Machines(ctx)).To(BeEmpty())
		Expect(Tries(ctx, http.MethodDelete, "/allocations/")).To(Equal(1), "it was asked for and answered 404")
	})

	It("goes through when the project is gone, for which identity answers 500", func(ctx SpecContext) {
		_, err := Instances(environment.AlphaGammaEditor, Gamma).Create(ctx, NewInstance("web-1", On(GammaNet)), metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(Machines).WithContext(ctx).Should(HaveLen(1))
		Expect(Simulator().RemoveProject(ctx, world.Gamma)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			Expect(Simulator().MakeProject(ctx, world.Umbrella, world.Gamma, "gamma")).To(Succeed())
		})
		Expect(Instances(environment.AlphaGammaEditor, Gamma).Delete(ctx, "web-1", metav1.DeleteOptions{})).To(Succeed())
		Eventually(func() ([]v1beta1.Instance, error) {
			left, err := Instances(environment.AlphaGammaEditor, Gamma).List(ctx, metav1.ListOptions{})
			return left.Items, err
		}).WithContext(ctx).Should(BeEmpty())
		Expect(Machines(ctx)).To(BeEmpty())
	})

	It("does not go through when identity only answers 500", func(ctx SpecContext) {
		Create(ctx, "web-1")
		AwaitInPlace(ctx, "web-1")
		WithFaults(ctx, fault.Fault{Service: "identity", Method: http.MethodDelete, Status: ptr.To(http.StatusInternalServerError)})
		ForgetRequests(ctx)
		deleteNow(ctx, "web-1")
		Eventually(Tries).WithContext(ctx).WithArguments(http.MethodDelete, "/allocations/").Should(BeNumerically(">=", 3))
		Expect(Get(ctx, "web-1").Finalizers).To(Equal([]string{v1alpha1.Finalizer}))
		Expect(Charged(ctx)).To(HaveLen(1))
		Expect(Simulator().ClearFaults(ctx)).To(Succeed())
		Eventually(Get).WithContext(ctx).WithArguments("web-1").Should(BeNil())
		Expect(Charged(ctx)).To(BeEmpty())
	})

	It("waits for a region that is down, and goes through once it is back", func(ctx SpecContext) {
		Create(ctx, "web-1")
		AwaitInPlace(ctx, "web-1")
		WithFaults(ctx, fault.Fault{Service: "region", Status: ptr.To(0)})
		ForgetRequests(ctx)
		deleteNow(ctx, "web-1")
		Eventually(Tries).WithContext(ctx).WithArguments(http.MethodGet, "/servers").Should(BeNumerically(">=", 4))
		Expect(Get(ctx, "web-1").DeletionTimestamp).NotTo(BeNil())
		Expect(Charged(ctx)).To(HaveLen(1))
		Expect(Tries(ctx, http.MethodDelete, "/allocations/")).To(BeZero())

		Expect(Simulator().ClearFaults(ctx)).To(Succeed())
		Eventually(Get).WithContext(ctx).WithArguments("web-1").Should(BeNil())
		Expect(Machines(ctx)).To(BeEmpty())
		Expect(Charged(ctx)).To(BeEmpty())
	})
})
