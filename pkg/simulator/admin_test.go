// SPDX-License-Identifier: Apache-2.0

package simulator_test

import (
	"fmt"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
)

var _ = Describe("The admin API", func() {
	var h *harness
	BeforeEach(func() { h = newHarness() })

	request := func(method, path string, body any) answer {
		return caller{base: h.admin, client: http.DefaultClient}.call(method, path, body)
	}

	It("says what it can do", func() {
		help := h.adminCall(http.MethodGet, "/", nil).body
		for _, call := range []string{"/allocations", "/servers", "/requests", "/faults", "/settings", "/quotas/"} {
			Expect(help).To(ContainSubstring(call))
		}
		Expect(h.adminCall(http.MethodGet, "/healthz", nil).body).To(Equal("ok"))
	})

	It("shows [] when nothing is held, and what is held as the services would", func() {
		Expect(h.adminCall(http.MethodGet, "/allocations", nil).body).To(Equal("[]"))
		Expect(h.adminCall(http.MethodGet, "/servers", nil).body).To(Equal("[]"))
		h.created(serverCreate("web-0"))
		h.charger().post(allocationsPath(world.Acme, world.Alpha), charge(1, 0, 0))
		Expect(h.adminCall(http.MethodGet, "/servers", nil).body).To(MatchJSON(h.compute().get(serversPath).body))
		Expect(h.adminCall(http.MethodGet, "/allocations", nil).body).To(ContainSubstring(`"kind":"servers"`))
	})

	It("remembers requests without their bodies, in either form", func() {
		signer, err := principal.NewSigner(keySource(pki.compute))
		Expect(err).NotTo(HaveOccurred())
		h.adminCall(http.MethodDelete, "/requests", nil)
		create := serverCreate("web-0")
		create.Spec.UserData = []byte("#!/bin/sh\necho c2VjcmV0\n")
		h.created(create)
		h.person().with("traceparent", "00-x").get("/api/v2/networks?regionID=" + string(world.North))
		h.charger().as(signer.Sign(editor)).get("/api/v1/acl")

		entries := decoded[[]map[string]any](h.adminCall(http.MethodGet, "/requests", nil), http.StatusOK)
		Expect(entries).To(HaveLen(3))
		Expect(entries[0]).To(And(
			HaveKeyWithValue("service", "region"), HaveKeyWithValue("method", "POST"), HaveKeyWithValue("path", serversPath),
			HaveKeyWithValue("status", 201.0), HaveKeyWithValue("impersonate", false), HaveKeyWithValue("principalForm", "A"),
			HaveKeyWithValue("startedAt", "2026-08-01T12:00:00Z"), HaveKeyWithValue("durationMillis", 0.0),
			HaveKeyWithValue("principal", HaveKeyWithValue("actor", "alpha-editor")),
		))
		Expect(entries[1]).To(And(
			HaveKeyWithValue("query", "regionID="+string(world.North)), HaveKeyWithValue("impersonate", true),
			HaveKeyWithValue("traceparent", "00-x"),
		))
		Expect(entries[2]).To(And(
			HaveKeyWithValue("service", "identity"), HaveKeyWithValue("principalForm", "B"),
			HaveKeyWithValue("principal", HaveKeyWithValue("projectId", string(world.Alpha))),
		))
		Expect(h.adminCall(http.MethodGet, "/requests", nil).body).NotTo(ContainSubstring("IyEvYmlu"))
		h.adminCall(http.MethodDelete, "/requests", nil)
		Expect(h.adminCall(http.MethodGet, "/requests", nil).body).To(Equal("[]"))
	})

	It("merges settings and refuses what it does not know", func() {
		Expect(h.adminCall(http.MethodPut, "/settings", `{"bootMillis": 7}`).field("bootMillis")).To(Equal(7.0))
		Expect(h.adminCall(http.MethodGet, "/settings", nil).field("stopMillis")).To(Equal(1000.0))
		for path, body := range map[string]string{
			"/settings":                         `{"unheardOf": 1}`,
			"/faults":                           `[{"status": 1000}]`,
			"/quotas/" + string(world.Acme):     `{"servers": "many"}`,
			"/people/mallory":                   fmt.Sprintf(`{%q: "owner"}`, world.Alpha),
			"/faults?again":                     `[{"path": "("}]`,
			"/faults?and-again":                 `[{"service": "compute", "status": 500}]`,
			"/quotas/" + string(world.Umbrella): `[]`,
		} {
			Expect(request(http.MethodPut, path, body).status).To(Equal(http.StatusBadRequest), path)
		}
	})

	It("changes quotas", func() {
		path, alpha := "/quotas/"+string(world.Acme), allocationsPath(world.Acme, world.Alpha)
		h.adminCall(http.MethodPut, path, `{"servers": 1}`)
		Expect(h.charger().post(alpha, charge(2, 0, 0)).field("error_description")).To(Equal("servers: total 2 exceeds quota limit 1"))
		Expect(h.charger().post(alpha, charge(1, 3, 0)).field("error_description")).To(Equal("gpus: total 3 exceeds quota limit 2"))
		h.adminCall(http.MethodPut, path, `{"gpus": null, "floatingips": null}`)
		Expect(h.charger().post(alpha, charge(1, 40, 1000)).status).To(Equal(http.StatusCreated))
		Expect(request(http.MethodPut, "/quotas/"+missing, `{}`).status).To(Equal(http.StatusNotFound))
	})

	It("plants and removes servers behind the platform's back", func() {
		simple := fmt.Sprintf(`{"name": "web-0", "networkId": %q, "flavorId": %q, "imageId": %q, "tags": [{"name": %q, "value": "x"}]}`,
			alphaNet, world.FlavorStandard, world.ImageUbuntu, tagName)
		planted := decoded[region.Server](h.adminCall(http.MethodPost, "/servers", simple), http.StatusCreated)
		Expect(shown(planted)).To(Equal("provisioned/Running/healthy"))
		Expect(planted.Metadata.ProjectID).To(Equal(world.Alpha))
		Expect(h.read(planted).Status.PrivateIP).NotTo(BeEmpty())
		Expect(request(http.MethodPost, "/servers", simple).status).To(Equal(http.StatusConflict))
		refused(h.compute().post(serversPath, serverCreate("web-0")), http.StatusConflict, "conflict")

		long := planted
		long.Metadata.ID, long.Metadata.Name = "", "web-1"
		long.Metadata.ProvisioningStatus, long.Status.PowerState = "error", region.PowerError
		twin := decoded[region.Server](h.adminCall(http.MethodPost, "/servers", long), http.StatusCreated)
		Expect(shown(twin)).To(Equal("error/Error/healthy"))
		Expect(names(h.compute().get(serversPath + "?tag=compute.unikorn-cloud.org%2Finstance-id%3Dx"))).To(HaveLen(2))

		h.adminCall(http.MethodDelete, "/servers/"+planted.Metadata.ID, nil)
		refused(h.compute().get(pathOf(planted)), http.StatusNotFound, "not_found")
		Expect(request(http.MethodDelete, "/servers/"+planted.Metadata.ID, nil).status).To(Equal(http.StatusNotFound))
		for _, body := range []string{`{`, `{"networkId": "` + string(alphaNet) + `"}`, `{"name": "x", "unheardOf": 1}`} {
			Expect(request(http.MethodPost, "/servers", body).status).To(Equal(http.StatusBadRequest), body)
		}
		Expect(request(http.MethodPost, "/servers", `{"name": "x", "networkId": "`+missing+`"}`).status).To(Equal(http.StatusNotFound))
	})

	It("makes people known and unknown", func() {
		mallory := impersonating(func(p *principal.Principal) { p.Actor = "mallory" })
		h.adminCall(http.MethodPut, "/people/mallory", fmt.Sprintf(`{%q: "viewer"}`, world.Beta))
		Expect(names(h.compute().as(mallory).get("/api/v2/networks"))).To(Equal([]string{"beta-net"}))
		h.adminCall(http.MethodPut, "/people/mallory", `{}`)
		Expect(names(h.compute().as(mallory).get("/api/v2/networks"))).To(BeEmpty())
	})
})
