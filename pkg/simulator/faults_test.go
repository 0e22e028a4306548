// SPDX-License-Identifier: Apache-2.0

package simulator_test

import (
	"io"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/unikorn-cloud/instance-apiserver/pkg/identity"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
)

var _ = Describe("Faults", func() {
	var h *harness
	BeforeEach(func() { h = newHarness() })

	alpha := allocationsPath(world.Acme, world.Alpha)
	allocations := func() []identity.Allocation {
		return decoded[[]identity.Allocation](h.adminCall(http.MethodGet, "/allocations", nil), http.StatusOK)
	}

	It("contracts 9.27 an answer is lost after the work was done, as often as asked", func() {
		h.faults(`[{"service": "identity", "method": "POST", "path": "/allocations$", "status": 0, "afterCommit": true, "times": 1}]`)
		_, err := h.charger().try(http.MethodPost, alpha, charge(1, 0, 0))
		Expect(err).To(MatchError(io.EOF))
		Expect(allocations()).To(HaveLen(1))
		Expect(h.charger().post(alpha, charge(1, 0, 0)).status).To(Equal(http.StatusCreated))
		Expect(allocations()).To(HaveLen(2))
	})

	It("contracts 9.27 an answer is lost before the work is done", func() {
		h.faults(`[{"path": "/allocations$", "status": 0}]`)
		_, err := h.charger().try(http.MethodPost, alpha, charge(1, 0, 0))
		Expect(err).To(HaveOccurred())
		Expect(allocations()).To(BeEmpty())
	})

	It("contracts 9.27 statuses of the services have their body, those of an ingress have not", func() {
		for _, status := range []string{"500", "409", "400"} {
			h.faults(`[{"service": "region", "status": ` + status + `}]`)
			Expect(h.compute().get(serversPath).field("trace_id")).NotTo(BeNil(), status)
		}
		for status, code := range map[string]int{"429": 429, "502": 502, "503": 503, "504": 504} {
			h.faults(`[{"service": "region", "status": ` + status + `, "headers": {"Retry-After": "7"}}]`)
			a := h.compute().get(serversPath)
			Expect(a.status).To(Equal(code))
			Expect(a.body).To(HavePrefix("<html>"))
			Expect(a.header.Get("Retry-After")).To(Equal("7"))
		}
		h.faults(`[{"status": 200, "body": "not JSON", "headers": {"Content-Type": "text/plain"}}]`)
		Expect(h.compute().get(serversPath).body).To(Equal("not JSON"))
		h.faults(`[{"status": 200, "body": [{"a": 1}]}]`)
		Expect(h.compute().get(serversPath).body).To(MatchJSON(`[{"a": 1}]`))
		h.adminCall(http.MethodDelete, "/faults", nil)
		Expect(h.compute().get(serversPath).body).To(Equal("[]"))
	})

	It("contracts 9.27 an error is answered though the work was done", func() {
		h.faults(`[{"service": "region", "method": "POST", "status": 502, "afterCommit": true}]`)
		Expect(h.compute().post(serversPath, serverCreate("web-0")).status).To(Equal(http.StatusBadGateway))
		Expect(names(h.compute().get(serversPath))).To(Equal([]string{"web-0"}))
	})

	It("contracts 9.27 only what matches goes wrong, the first fault before the second", func() {
		h.faults(`[
			{"service": "region", "method": "GET", "path": "^/api/v2/servers$", "status": 503, "times": 2},
			{"service": "region", "method": "GET", "path": "servers", "status": 500, "times": 1}
		]`)
		Expect(h.compute().get("/api/v2/networks").status).To(Equal(http.StatusOK))
		Expect(h.charger().get("/api/v1/acl").status).To(Equal(http.StatusOK))
		for _, status := range []int{503, 503, 500, 200} {
			Expect(h.compute().get(serversPath).status).To(Equal(status))
		}
		Expect(h.adminCall(http.MethodGet, "/faults", nil).body).To(Equal("[]"))
	})

	It("contracts 9.27 answers are late", func() {
		late := make(chan answer, 1)
		call := func() {
			go func() {
				defer GinkgoRecover()
				late <- h.compute().get("/api/v2/networks")
			}()
			Eventually(h.clock.HasWaiters, patience).Should(BeTrue())
			Expect(late).NotTo(Receive())
			h.step(5000)
			var a answer
			Eventually(late, patience).Should(Receive(&a))
			Expect(a.status).To(Equal(http.StatusOK))
		}
		h.faults(`[{"service": "region", "latencyMillis": 5000, "times": 1}]`)
		call()
		h.set(`{"regionLatencyMillis": 5000}`)
		call()
		Expect(h.charger().get("/api/v1/acl").status).To(Equal(http.StatusOK))
	})

	It("contracts 9.27 answers are cut", func() {
		h.faults(`[{"service": "region", "truncateBytes": 10}]`)
		a, err := h.compute().try(http.MethodGet, "/api/v2/networks", nil)
		Expect(err).To(MatchError(io.ErrUnexpectedEOF))
		Expect(a.status).To(Equal(http.StatusOK))
		Expect(a.body).To(HaveLen(10))
		h.faults(`[{"service": "region", "status": 503, "body": "0123456789", "truncateBytes": 4}]`)
		a, err = h.compute().try(http.MethodGet, "/api/v2/networks", nil)
		Expect(err).To(MatchError(io.ErrUnexpectedEOF))
		Expect(a.body).To(Equal("0123"))
	})
})
