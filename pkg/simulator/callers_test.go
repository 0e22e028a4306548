// SPDX-License-Identifier: Apache-2.0

package simulator_test

import (
	"context"
	"fmt"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
)

func header(value string) principal.Credential {
	return func(_ context.Context, request *http.Request) error {
		request.Header.Set("X-Principal", value)
		return nil
	}
}

func impersonating(change func(*principal.Principal)) principal.Credential {
	who := editor
	change(&who)
	encoded, err := who.Encode()
	Expect(err).NotTo(HaveOccurred())
	return func(_ context.Context, request *http.Request) error {
		request.Header.Set("X-Principal", encoded)
		request.Header.Set("X-Impersonate", "true")
		return nil
	}
}

var _ = Describe("Callers", func() {
	var h *harness
	BeforeEach(func() { h = newHarness() })

	It("contracts 9.1 no certificate is 401, no or a bad principal 400, both forms are accepted", func() {
		signer, err := principal.NewSigner(keySource(pki.compute))
		Expect(err).NotTo(HaveOccurred())
		forger, err := principal.NewSigner(keySource(pki.other))
		Expect(err).NotTo(HaveOccurred())
		for _, service := range []struct{ base, path string }{
			{h.region, "/api/v2/networks"}, {h.identity, "/api/v1/acl"},
		} {
			refusal := newCaller(service.base).get(service.path)
			refused(refusal, http.StatusUnauthorized, "access_denied")
			Expect(refusal.header.Get("WWW-Authenticate")).To(HavePrefix(`Bearer error="access_denied"`))

			c := newCaller(service.base, pki.compute)
			refused(c.with("Authorization", "Bearer x").get(service.path), http.StatusUnauthorized, "access_denied")
			refused(c.as(anonymous).get(service.path), http.StatusBadRequest, "invalid_request")
			refused(c.as(header("@@@")).get(service.path), http.StatusBadRequest, "invalid_request")
			refused(c.as(header("aGVsbG8")).get(service.path), http.StatusBadRequest, "invalid_request")
			refused(c.as(forger.Sign(editor)).get(service.path), http.StatusBadRequest, "invalid_request")

			Expect(c.get(service.path).status).To(Equal(http.StatusOK))
			Expect(c.as(signer.Sign(editor)).get(service.path).status).To(Equal(http.StatusOK))
		}
	})

	It("contracts 9.2 the service's role decides alone, with impersonation the intersection does", func() {
		server := h.created(serverCreate("web-0"))

		Expect(names(h.compute().get("/api/v2/networks"))).To(Equal([]string{"alpha-net", "alpha-net2", "beta-net", "gamma-net"}))
		Expect(names(h.compute().get(serversPath))).To(Equal([]string{"web-0"}))

		Expect(names(h.person().get("/api/v2/networks"))).To(Equal([]string{"alpha-net", "alpha-net2"}))
		Expect(h.person().get("/api/v2/networks/" + string(alphaNet)).status).To(Equal(http.StatusOK))
		refused(h.person().get("/api/v2/networks/"+string(betaNet)), http.StatusForbidden, "forbidden")
		Expect(names(h.person().get(serversPath))).To(BeEmpty())
		refused(h.person().get(pathOf(server)), http.StatusForbidden, "forbidden")
		refused(h.person().post(serversPath, serverCreate("web-1")), http.StatusForbidden, "forbidden")

		By("what only one of the two may do, neither does")
		network := "/api/v2/networks/" + string(alphaNet2)
		viewer := impersonating(func(p *principal.Principal) { p.Actor = "alpha-viewer" })
		seeder := newCaller(h.region, pki.seeder)
		refused(h.person().delete(network), http.StatusForbidden, "forbidden")
		refused(seeder.as(viewer).delete(network), http.StatusForbidden, "forbidden")
		Expect(seeder.as(principal.Impersonate(editor)).delete(network).status).To(Equal(http.StatusAccepted))
	})

	It("contracts 9.2 people see what their projects in the asserted organizations allow", func() {
		sees := func(change func(*principal.Principal)) []string {
			return names(h.compute().as(impersonating(change)).get("/api/v2/networks"))
		}
		both := []ids.OrganizationID{world.Acme, world.Umbrella}
		Expect(sees(func(p *principal.Principal) { p.Actor = "alpha-viewer" })).To(Equal([]string{"alpha-net", "alpha-net2"}))
		Expect(sees(func(p *principal.Principal) { p.Actor = "beta-editor" })).To(Equal([]string{"beta-net"}))
		Expect(sees(func(p *principal.Principal) { p.Actor = "alpha-beta-editor" })).To(Equal([]string{"alpha-net", "alpha-net2", "beta-net"}))
		Expect(sees(func(p *principal.Principal) { p.Actor, p.OrganizationIDs = "alpha-gamma-editor", both })).
			To(Equal([]string{"alpha-net", "alpha-net2", "gamma-net"}))
		Expect(sees(func(p *principal.Principal) { p.Actor = "alpha-gamma-editor" })).To(Equal([]string{"alpha-net", "alpha-net2"}))
		Expect(sees(func(p *principal.Principal) { p.Actor = "mallory" })).To(BeEmpty())
	})

	It("contracts 9.3 other values than true do not impersonate, an empty actor is 400", func() {
		for _, value := range []string{"True", "1", "false", ""} {
			Expect(names(h.compute().with("X-Impersonate", value).get("/api/v2/networks"))).To(HaveLen(4), value)
		}
		nobody := impersonating(func(p *principal.Principal) { p.Actor = "" })
		refused(h.compute().as(nobody).get("/api/v2/networks"), http.StatusBadRequest, "invalid_request")
		refused(h.charger().as(nobody).get("/api/v1/acl"), http.StatusBadRequest, "invalid_request")

		signer, err := principal.NewSigner(keySource(pki.compute))
		Expect(err).NotTo(HaveOccurred())
		signed := h.compute().as(signer.Sign(editor)).with("X-Impersonate", "true")
		Expect(names(signed.get("/api/v2/networks"))).To(HaveLen(4), "form B is never impersonated")
	})

	It("contracts 9.25 the ACL of an unknown certificate name is 500", func() {
		refused(newCaller(h.identity, pki.unknown).get("/api/v1/acl"), http.StatusInternalServerError, "server_error")
		refused(newCaller(h.region, pki.unknown).get("/api/v2/networks"), http.StatusInternalServerError, "server_error")
	})

	It("contracts 9.25 the ACL of principals that cannot be resolved is 500, of members without a group {}", func() {
		acl := func(change func(*principal.Principal)) answer {
			return h.charger().as(impersonating(change)).get("/api/v1/acl")
		}
		for name, change := range map[string]func(*principal.Principal){
			"system":  func(p *principal.Principal) { p.Type = principal.TypeSystem },
			"untyped": func(p *principal.Principal) { p.Type = "" },
			"service in two": func(p *principal.Principal) {
				p.Type, p.OrganizationIDs = "service", append(p.OrganizationIDs, world.Umbrella)
			},
			"service in none":      func(p *principal.Principal) { p.Type, p.OrganizationIDs = "service", nil },
			"unknown organization": func(p *principal.Principal) { p.OrganizationIDs = []ids.OrganizationID{missing} },
		} {
			By(name)
			refused(acl(change), http.StatusInternalServerError, "server_error")
			refused(h.compute().as(impersonating(change)).get("/api/v2/networks"), http.StatusInternalServerError, "server_error")
		}
		Expect(acl(func(p *principal.Principal) { p.Actor = "mallory" }).body).To(MatchJSON(`{}`))
		Expect(acl(func(p *principal.Principal) { p.OrganizationIDs = nil }).field("organizations")).To(HaveLen(1))
		scoped := h.charger().as(principal.Impersonate(editor)).get("/api/v1/organizations/" + string(world.Umbrella) + "/acl")
		refused(scoped, http.StatusInternalServerError, "server_error")
		own := h.charger().as(principal.Impersonate(editor)).get("/api/v1/organizations/" + string(world.Acme) + "/acl")
		Expect(own.field("organization.id")).To(Equal(string(world.Acme)))
		Expect(own.field("projects")).To(HaveLen(1))
	})

	It("contracts 9.26 every error has the common body and repeats the trace id", func() {
		const trace = "0af7651916cd43dd8448eb211c80319c"
		traced := func(c caller) caller { return c.with("traceparent", "00-"+trace+"-b7ad6b7169203331-01") }
		errors := []struct {
			a      answer
			status int
			code   string
		}{
			{traced(h.compute()).get(serversPath + "/x"), http.StatusBadRequest, "invalid_request"},
			{traced(newCaller(h.region)).get(serversPath), http.StatusUnauthorized, "access_denied"},
			{traced(h.person()).get("/api/v2/networks/" + string(gammaNet)), http.StatusForbidden, "forbidden"},
			{traced(h.compute()).get(serversPath + "/" + missing), http.StatusNotFound, "not_found"},
			{traced(h.compute()).call("PATCH", serversPath, "{}"), http.StatusNotFound, "not_found"},
			{traced(h.compute()).get("/nothing"), http.StatusNotFound, "not_found"},
			{traced(h.charger()).get("/api/v1/organizations/" + missing + "/acl"), http.StatusInternalServerError, "server_error"},
		}
		for i, e := range errors {
			By(fmt.Sprintf("error %d", i))
			refused(e.a, e.status, e.code)
			Expect(e.a.field("trace_id")).To(Equal(trace))
			Expect(e.a.header.Get("Content-Type")).To(Equal("application/json"))
			Expect(e.a.header.Get("Cache-Control")).To(Equal("no-cache"))
		}
		Expect(h.compute().get("/nothing").field("trace_id")).To(Equal("00000000000000000000000000000000"))
	})
})
