// SPDX-License-Identifier: Apache-2.0

package simulator_test

import (
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/utils/ptr"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/adminclient"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/fault"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
)

var _ = Describe("The client of the admin API", func() {
	var h *harness
	var client adminclient.Client
	BeforeEach(func() {
		h = newHarness()
		client = adminclient.Client{URL: h.admin}
	})

	It("reads what is held and what was asked, and forgets", func(ctx SpecContext) {
		Expect(client.Allocations(ctx)).To(BeEmpty())
		Expect(client.Servers(ctx)).To(BeEmpty())
		server := h.created(serverCreate("web-0"))
		h.charger().post(allocationsPath(world.Acme, world.Alpha), charge(1, 0, 0))
		Expect(client.Allocations(ctx)).To(HaveLen(1))
		Expect(client.Servers(ctx)).To(ConsistOf(HaveField("Metadata.ID", server.Metadata.ID)))
		Expect(client.Requests(ctx)).To(HaveLen(2))
		Expect(client.ForgetRequests(ctx)).To(Succeed())
		Expect(client.Requests(ctx)).To(BeEmpty())
		Expect(client.UprootServer(ctx, ids.ServerID(server.Metadata.ID))).To(Succeed())
		Expect(client.Servers(ctx)).To(BeEmpty())
	})

	It("sets faults, settings and quotas", func(ctx SpecContext) {
		Expect(client.SetFaults(ctx, fault.Fault{Service: "region", Status: ptr.To(http.StatusBadGateway)})).To(Succeed())
		Expect(h.compute().get(serversPath).status).To(Equal(http.StatusBadGateway))
		Expect(client.ClearFaults(ctx)).To(Succeed())
		Expect(h.compute().get(serversPath).status).To(Equal(http.StatusOK))

		wanted, err := client.Settings(ctx)
		Expect(err).NotTo(HaveOccurred())
		wanted.BootMillis = 7
		Expect(client.SetSettings(ctx, wanted)).To(Succeed())
		Expect(client.Settings(ctx)).To(Equal(wanted))

		Expect(client.SetQuotas(ctx, world.Acme, map[string]*int{"servers": ptr.To(0)})).To(Succeed())
		Expect(h.charger().post(allocationsPath(world.Acme, world.Alpha), charge(1, 0, 0)).status).To(Equal(http.StatusForbidden))
	})

	It("tells what was refused, and why", func(ctx SpecContext) {
		err := client.SetQuotas(ctx, "nobody", nil)
		Expect(err).To(BeAssignableToTypeOf(&adminclient.StatusError{}))
		Expect(err).To(MatchError(And(ContainSubstring("PUT /quotas/nobody: 404"), ContainSubstring("not found"))))
	})
})
