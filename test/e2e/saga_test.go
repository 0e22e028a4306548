// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
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
)

// tries is how often the platform was asked with the method for a path with the
// part, whatever became of it.
func tries(ctx context.Context, method, part string) int {
	GinkgoHelper()
	requests, err := simulator().Requests(ctx)
	Expect(err).NotTo(HaveOccurred())
	count := 0
	for _, request := range requests {
		if request.Method == method && strings.Contains(request.Path, part) {
			count++
		}
	}
	return count
}

// sweep deletes all allocations of project alpha, as an operator or a sweeper
// of the platform does.
func sweep(ctx context.Context) {
	GinkgoHelper()
	pki := func(file string) string { return filepath.Join(string(env.Folder), "pki", file) }
	files, err := unikorn.NewTLSFiles(pki("ca.crt"), pki("unikorn-compute.crt"), pki("unikorn-compute.key"))
	Expect(err).NotTo(HaveOccurred())
	client, err := identity.New(unikorn.Config{Host: "https://" + addressOf("identity"), TLS: files})
	Expect(err).NotTo(HaveOccurred())
	credential := principal.Service(principal.Principal{
		OrganizationID: world.Acme, OrganizationIDs: []ids.OrganizationID{world.Acme}, ProjectID: world.Alpha,
		Type: principal.TypeService, Actor: "sweeper",
	})
	held, err := simulator().Allocations(ctx)
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
			withFaults(ctx, lost)
			forgetRequests(ctx)
			// A client that repeats what it is told to repeat.
			_, err := inAlpha().Create(ctx, newInstance("web-1"), metav1.CreateOptions{})
			Expect(err).To(beRefused(http.StatusGatewayTimeout, metav1.StatusReasonTimeout))
			Expect(tries(ctx, http.MethodPost, "/allocations")).To(Equal(1))
			Expect(tries(ctx, http.MethodDelete, "/allocations")).To(BeZero())
			Expect(get(ctx, "web-1")).To(BeNil())
			// What was charged all the same is for a sweeper, who knows it by its
			// name.
			held, err := simulator().Allocations(ctx)
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
		withFaults(ctx, fault.Fault{Service: "identity", Method: http.MethodPost, Status: ptr.To(http.StatusTooManyRequests), Times: 1})
		forgetRequests(ctx)
		create(ctx, "web-1")
		Expect(tries(ctx, http.MethodPost, "/allocations")).To(Equal(2))
		Expect(charged(ctx)).To(HaveLen(1))
	})

	It("for what the cluster refuses to store is given back, however often identity fails at that", func(ctx SpecContext) {
		refuseToStore(ctx)
		withFaults(ctx, fault.Fault{Service: "identity", Method: http.MethodDelete, Path: "/allocations/", Status: ptr.To(http.StatusInternalServerError), Times: 2})
		forgetRequests(ctx)
		err := createOnce(ctx, newInstance("web-1", labelled("e2e", "refused")))
		Expect(err).To(MatchError(ContainSubstring("not today")))
		Expect(tries(ctx, http.MethodPost, "/allocations")).To(Equal(1))
		Eventually(charged).WithContext(ctx).Should(BeEmpty())
		Expect(tries(ctx, http.MethodDelete, "/allocations/")).To(Equal(3))
	})

	It("for what the cluster refuses to store, of a project that has vanished meanwhile, is not given back for ever", func(ctx SpecContext) {
		refuseToStore(ctx)
		withFaults(ctx,
			fault.Fault{Service: "identity", Method: http.MethodDelete, Path: "/allocations/", Status: ptr.To(http.StatusInternalServerError)},
			fault.Fault{Service: "identity", Method: http.MethodGet, Path: "/projects/[^/]*$", Status: ptr.To(http.StatusNotFound)})
		forgetRequests(ctx)
		err := createOnce(ctx, newInstance("web-1", labelled("e2e", "refused")))
		Expect(err).To(MatchError(ContainSubstring("not today")))
		// It is given up before the answer.
		Expect(tries(ctx, http.MethodDelete, "/allocations/")).To(Equal(1))
		Expect(tries(ctx, http.MethodGet, "/projects/"+string(world.Alpha))).To(Equal(1))
		Expect(simulator().ClearFaults(ctx)).To(Succeed())
		sweep(ctx)
	})
})

// clusterUID is by what the cluster is known to the platform.
func clusterUID(ctx context.Context) string {
	GinkgoHelper()
	namespace, err := clientOf(environment.Admin).CoreV1().Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	return string(namespace.UID)
}

var _ = Describe("A server", func() {
	DescribeTable("the answer to whose create is lost is made once, and paid for once",
		func(ctx SpecContext, lost fault.Fault) {
			lost.Service, lost.Method, lost.Path, lost.Times = "region", http.MethodPost, "/servers$", 2
			withFaults(ctx, lost)
			create(ctx, "web-1")
			awaitInPlace(ctx, "web-1")
			Expect(machines(ctx)).To(Equal([]string{"web-1"}))
			Expect(charged(ctx)).To(HaveLen(1))
		},
		Entry("dropped, and made", fault.Fault{Status: ptr.To(0), AfterCommit: true}),
		Entry("an error, and made", fault.Fault{Status: unavailable, AfterCommit: true}),
		Entry("dropped, not made", fault.Fault{Status: ptr.To(0)}),
	)

	It("that is long in going keeps its Instance, and what it is charged for", func(ctx SpecContext) {
		create(ctx, "web-1", public)
		awaitInPlace(ctx, "web-1")
		withSettings(ctx, func(s *settings.Settings) { s.DeleteMillis = time.Hour.Milliseconds() })
		forgetRequests(ctx)
		deleteNow(ctx, "web-1")
		// The controller has seen it going, and has looked again.
		Eventually(tries).WithContext(ctx).WithArguments(http.MethodDelete, "/servers/").Should(Equal(1))
		forgetRequests(ctx)
		Eventually(tries).WithContext(ctx).WithArguments(http.MethodGet, "/servers").Should(BeNumerically(">=", 3))
		kept := get(ctx, "web-1")
		Expect(kept.DeletionTimestamp).NotTo(BeNil())
		Expect(conditionOf(kept, v1beta1.ConditionAvailable).Reason).To(Equal(v1alpha1.ReasonDeprovisioning))
		Expect(bill(ctx)).To(Equal(quota.Cost{Servers: 1, Addresses: 1}))
		Expect(tries(ctx, http.MethodDelete, "/allocations/")).To(BeZero())

		uprootAll(ctx)
		Eventually(get).WithContext(ctx).WithArguments("web-1").Should(BeNil())
		Expect(charged(ctx)).To(BeEmpty())
	})
})

// deleteNow asks for the deletion of an Instance of namespace alpha.
func deleteNow(ctx context.Context, name string) {
	GinkgoHelper()
	Expect(inAlpha().Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
}

// uprootAll removes all servers behind the platform's back.
func uprootAll(ctx context.Context) {
	GinkgoHelper()
	servers, err := simulator().Servers(ctx)
	Expect(err).NotTo(HaveOccurred())
	for _, server := range servers {
		Expect(simulator().UprootServer(ctx, server.ID())).To(Succeed())
	}
}

var _ = Describe("Deletion", func() {
	It("goes through when the allocation is gone already", func(ctx SpecContext) {
		create(ctx, "web-1")
		awaitInPlace(ctx, "web-1")
		sweep(ctx)
		forgetRequests(ctx)
		deleteNow(ctx, "web-1")
		Eventually(get).WithContext(ctx).WithArguments("web-1").Should(BeNil())
		Expect(machines(ctx)).To(BeEmpty())
		Expect(tries(ctx, http.MethodDelete, "/allocations/")).To(Equal(1), "it was asked for and answered 404")
	})

	It("goes through when the project is gone, for which identity answers 500", func(ctx SpecContext) {
		_, err := instances(environment.AlphaGammaEditor, gamma).Create(ctx, newInstance("web-1", on(gammaNet)), metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(machines).WithContext(ctx).Should(HaveLen(1))
		Expect(simulator().RemoveProject(ctx, world.Gamma)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			Expect(simulator().MakeProject(ctx, world.Umbrella, world.Gamma, "gamma")).To(Succeed())
		})
		Expect(instances(environment.AlphaGammaEditor, gamma).Delete(ctx, "web-1", metav1.DeleteOptions{})).To(Succeed())
		Eventually(func() ([]v1beta1.Instance, error) {
			left, err := instances(environment.AlphaGammaEditor, gamma).List(ctx, metav1.ListOptions{})
			return left.Items, err
		}).WithContext(ctx).Should(BeEmpty())
		Expect(machines(ctx)).To(BeEmpty())
	})

	It("does not go through when identity only answers 500", func(ctx SpecContext) {
		create(ctx, "web-1")
		awaitInPlace(ctx, "web-1")
		withFaults(ctx, fault.Fault{Service: "identity", Method: http.MethodDelete, Status: ptr.To(http.StatusInternalServerError)})
		forgetRequests(ctx)
		deleteNow(ctx, "web-1")
		Eventually(tries).WithContext(ctx).WithArguments(http.MethodDelete, "/allocations/").Should(BeNumerically(">=", 3))
		Expect(get(ctx, "web-1").Finalizers).To(Equal([]string{v1alpha1.Finalizer}))
		Expect(charged(ctx)).To(HaveLen(1))
		Expect(simulator().ClearFaults(ctx)).To(Succeed())
		Eventually(get).WithContext(ctx).WithArguments("web-1").Should(BeNil())
		Expect(charged(ctx)).To(BeEmpty())
	})

	It("waits for a region that is down, and goes through once it is back", func(ctx SpecContext) {
		create(ctx, "web-1")
		awaitInPlace(ctx, "web-1")
		withFaults(ctx, fault.Fault{Service: "region", Status: ptr.To(0)})
		forgetRequests(ctx)
		deleteNow(ctx, "web-1")
		Eventually(tries).WithContext(ctx).WithArguments(http.MethodGet, "/servers").Should(BeNumerically(">=", 4))
		Expect(get(ctx, "web-1").DeletionTimestamp).NotTo(BeNil())
		Expect(charged(ctx)).To(HaveLen(1))
		Expect(tries(ctx, http.MethodDelete, "/allocations/")).To(BeZero())

		Expect(simulator().ClearFaults(ctx)).To(Succeed())
		Eventually(get).WithContext(ctx).WithArguments("web-1").Should(BeNil())
		Expect(machines(ctx)).To(BeEmpty())
		Expect(charged(ctx)).To(BeEmpty())
	})
})
