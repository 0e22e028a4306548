// SPDX-License-Identifier: Apache-2.0

package simulator_test

import (
	"fmt"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
)

// shown is where a server is, in one line.
func shown(server region.Server) string {
	return fmt.Sprintf("%s/%s/%s", server.Metadata.ProvisioningStatus, server.Status.PowerState, server.Metadata.HealthStatus)
}

var _ = Describe("The life of a server", func() {
	var h *harness
	BeforeEach(func() { h = newHarness() })

	It("contracts 9.10 is pending without a power state, provisioned and Building, then Running with addresses", func() {
		h.set(`{"bootMillis": 10000}`)
		create := serverCreate("web-0")
		create.Spec.Networking = &region.ServerNetworking{PublicIP: true}
		a := h.compute().post(serversPath, create)
		Expect(a.field("metadata.provisioningStatus")).To(Equal("pending"))
		for _, absent := range []string{"powerState", "privateIP", "publicIP", "macAddress"} {
			Expect(a.field("status." + absent)).To(BeNil())
		}
		server := decoded[region.Server](a, http.StatusCreated)

		h.step(2000)
		Expect(shown(h.read(server))).To(Equal("provisioning//unknown"))
		h.step(2000)
		ported := h.read(server)
		Expect(shown(ported)).To(Equal("provisioning/Pending/unknown"))
		Expect(ported.Status.PrivateIP).To(HavePrefix("10.1."))
		Expect(ported.Status.PublicIP).To(HavePrefix("198.51.100."))
		Expect(ported.Status.MacAddress).To(BeEmpty())
		h.step(2000)
		Expect(shown(h.read(server))).To(Equal("provisioned/Building/degraded"))
		h.step(4000)
		running := h.read(server)
		Expect(shown(running)).To(Equal("provisioned/Running/healthy"))
		Expect(running.Status.PrivateIP).To(Equal(ported.Status.PrivateIP))
		Expect(running.Status.PublicIP).To(Equal(ported.Status.PublicIP))
		Expect(running.Status.MacAddress).To(MatchRegexp("^fa:16:3e(:[0-9a-f]{2}){3}$"))
	})

	It("contracts 9.10 a physical machine is Queued before it is Building", func() {
		h.set(`{"bootMillis": 10000}`)
		create := serverCreate("metal-0")
		create.Spec.FlavorID, create.Spec.ImageID = world.FlavorMetal, world.ImageMetal
		server := h.created(create)
		h.step(6000)
		Expect(shown(h.read(server))).To(Equal("provisioned/Queued/degraded"))
		h.step(2000)
		Expect(shown(h.read(server))).To(Equal("provisioned/Building/degraded"))
		h.step(2000)
		Expect(shown(h.read(server))).To(Equal("provisioned/Running/healthy"))
	})

	It("contracts 9.11 health is degraded while building and when stopped", func() {
		server := h.created(serverCreate("web-0"))
		h.step(2000)
		Expect(shown(h.read(server))).To(Equal("provisioned/Building/degraded"))
		h.step(1000)
		Expect(h.compute().post(pathOf(server)+"/stop", nil).status).To(Equal(http.StatusAccepted))
		h.step(1000)
		Expect(shown(h.read(server))).To(Equal("provisioned/Stopped/degraded"))
	})

	It("contracts 9.15 a verb in the wrong state is 400, before the provider accepted 404", func() {
		verbs := []string{"start", "stop", "softreboot", "hardreboot"}
		server := h.created(serverCreate("web-0"))
		for _, verb := range verbs {
			refused(h.compute().post(pathOf(server)+"/"+verb, nil), http.StatusNotFound, "not_found")
		}
		h.step(2000)
		for _, verb := range verbs {
			refused(h.compute().post(pathOf(server)+"/"+verb, nil), http.StatusBadRequest, "invalid_request")
		}
		h.step(1000)
		refused(h.compute().post(pathOf(server)+"/start", nil), http.StatusBadRequest, "invalid_request")
		Expect(h.compute().post(pathOf(server)+"/stop", nil).status).To(Equal(http.StatusAccepted))
		h.step(1000)
		for _, verb := range verbs[1:] {
			refused(h.compute().post(pathOf(server)+"/"+verb, nil), http.StatusBadRequest, "invalid_request")
		}
		refused(h.compute().post(serversPath+"/"+missing+"/start", nil), http.StatusNotFound, "not_found")
	})

	It("contracts 9.16 stop shows Stopping and start Pending at once, reboots nothing, all settle later", func() {
		server := h.running(serverCreate("web-0"))
		act := func(verb string) {
			a := h.compute().post(pathOf(server)+"/"+verb, nil)
			Expect(a.status).To(Equal(http.StatusAccepted), a.body)
			Expect(a.body).To(BeEmpty())
		}
		power := func() region.PowerState { return h.read(server).Status.PowerState }

		act("softreboot")
		Expect(power()).To(Equal(region.PowerRunning))
		act("hardreboot")
		Expect(power()).To(Equal(region.PowerRunning))
		act("stop")
		Expect(power()).To(Equal(region.PowerStopping))
		h.step(999)
		Expect(power()).To(Equal(region.PowerStopping))
		h.step(1)
		Expect(power()).To(Equal(region.PowerStopped))
		act("start")
		Expect(power()).To(Equal(region.PowerPending))
		h.step(3000)
		stopped := h.read(server)
		Expect(shown(stopped)).To(Equal("provisioned/Running/healthy"))
		Expect(stopped.Status).To(Equal(server.Status), "addresses are kept")
	})

	It("contracts 9.20 a deleted server is deprovisioning and listed for a while, then gone", func() {
		server := h.running(serverCreate("web-0"))
		for range 2 {
			a := h.compute().delete(pathOf(server))
			Expect(a.status).To(Equal(http.StatusAccepted))
			Expect(a.body).To(BeEmpty())
		}
		dying := h.read(server)
		Expect(shown(dying)).To(Equal("deprovisioning/Running/healthy"))
		Expect(dying.Metadata.DeletionTime).NotTo(BeNil())
		Expect(dying.Status).To(Equal(server.Status))
		Expect(names(h.compute().get(serversPath + "?tag=compute.unikorn-cloud.org%2Finstance-id%3Dx-web-0"))).To(Equal([]string{"web-0"}))

		By("verbs still reach the provider, and put nothing off")
		Expect(h.compute().post(pathOf(server)+"/stop", nil).status).To(Equal(http.StatusAccepted))
		Expect(shown(h.read(server))).To(Equal("deprovisioning/Stopping/healthy"))
		h.step(1000)
		Expect(shown(h.read(server))).To(Equal("deprovisioning/Stopped/degraded"))
		h.step(1000)
		refused(h.compute().get(pathOf(server)), http.StatusNotFound, "not_found")
		refused(h.compute().delete(pathOf(server)), http.StatusNotFound, "not_found")
		Expect(names(h.compute().get(serversPath))).To(BeEmpty())
	})

	It("gives public addresses to one server at a time and takes them back", func() {
		held := map[string]bool{}
		for i := range 20 {
			create := serverCreate(fmt.Sprintf("web-%d", i))
			create.Spec.Networking = &region.ServerNetworking{PublicIP: true}
			address := h.running(create).Status.PublicIP
			Expect(held).NotTo(HaveKey(address))
			held[address] = true
		}
		for i := range 250 {
			create := serverCreate(fmt.Sprintf("brief-%d", i))
			create.Spec.Networking = &region.ServerNetworking{PublicIP: true}
			server := h.running(create)
			Expect(held).NotTo(HaveKey(server.Status.PublicIP))
			h.compute().delete(pathOf(server))
			h.step(2000)
		}
	})
})
