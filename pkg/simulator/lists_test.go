// SPDX-License-Identifier: Apache-2.0

package simulator_test

import (
	"net/http"
	"net/url"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

var _ = Describe("Lists and look-ups", func() {
	var h *harness
	BeforeEach(func() { h = newHarness() })

	listPaths := []string{"/api/v2/networks", "/api/v2/securitygroups", "/api/v2/sshcertificateauthorities", serversPath}

	It("contracts 9.4 a list is null without a common organization, [] when nothing is in it", func() {
		for _, path := range listPaths {
			Expect(h.person().get(path+"?organizationID="+string(world.Umbrella)).body).To(Equal("null"), path)
			Expect(h.person().get(path+"?projectID="+string(world.Beta)).body).To(Equal("[]"), path)
			Expect(h.compute().get(path+"?organizationID="+missing).body).To(Equal("[]"), path)
		}
	})

	It("contracts 9.4 on request null and undeclared statuses drop the connection", func() {
		h.set(`{"emptyLists": "drop"}`)
		for _, path := range listPaths {
			_, err := h.person().try(http.MethodGet, path+"?organizationID="+string(world.Umbrella), nil)
			Expect(err).To(HaveOccurred(), path)
			Expect(h.person().get(path+"?projectID="+string(world.Beta)).body).To(Equal("[]"), path)
		}
		create := serverCreate("web-0")
		create.Spec.NetworkID = missing
		_, err := h.compute().try(http.MethodPost, serversPath, create)
		Expect(err).To(HaveOccurred())
	})

	It("contracts 9.5 values of a parameter are alternatives, parameters and tags are conditions", func() {
		tagged := func(name string, network int, tags ...unikorn.Tag) {
			create := serverCreate(name)
			create.Metadata.Tags = tags
			if network == 2 {
				create.Spec.NetworkID = alphaNet2
			}
			h.created(create)
		}
		a, b := unikorn.Tag{Name: "a", Value: "1"}, unikorn.Tag{Name: "b/c", Value: "2"}
		tagged("both", 1, a, b)
		tagged("only-a", 1, a)
		tagged("elsewhere", 2, a, b)

		find := func(query string) []string { return names(h.compute().get(serversPath + "?" + query)) }
		one, two := "networkID="+string(alphaNet), "networkID="+string(alphaNet2)
		Expect(find(one)).To(ConsistOf("both", "only-a"))
		Expect(find(one + "&" + two)).To(ConsistOf("both", "only-a", "elsewhere"))
		Expect(find("tag=" + url.QueryEscape("a=1"))).To(ConsistOf("both", "only-a", "elsewhere"))
		Expect(find("tag=" + url.QueryEscape("a=1") + "&tag=" + url.QueryEscape("b/c=2") + "&" + one)).To(ConsistOf("both"))
		Expect(find("tag=" + url.QueryEscape("a=2"))).To(BeEmpty())
		Expect(find("projectID=" + string(world.Beta))).To(BeEmpty())
		Expect(find("regionID=" + string(world.North) + "&unheardOf=1")).To(HaveLen(3))

		for _, query := range []string{"tag=a", "tag=" + url.QueryEscape("a=1=2"), "regionID=", "networkID=", "organizationID="} {
			refused(h.compute().get(serversPath+"?"+query), http.StatusBadRequest, "invalid_request")
		}
		refused(h.compute().get(serversPath+"?regionID="+url.QueryEscape("a b")), http.StatusInternalServerError, "server_error")
	})

	It("contracts 9.5 lists are ordered by id", func() {
		for _, name := range []string{"c", "a", "b"} {
			h.created(serverCreate(name))
		}
		var found []string
		for _, server := range decoded[[]struct{ Metadata struct{ ID string } }](h.compute().get(serversPath), http.StatusOK) {
			found = append(found, server.Metadata.ID)
		}
		Expect(found).To(HaveLen(3))
		Expect(found[0] < found[1] && found[1] < found[2]).To(BeTrue(), "%v", found)
	})

	It("contracts 9.6 foreign object is 403, missing 404, non-UUID 400", func() {
		for path, foreign := range map[string]string{
			"/api/v2/networks/":                  string(betaNet),
			"/api/v2/securitygroups/":            "0e000000-0000-4000-8000-0000000000e3",
			"/api/v2/sshcertificateauthorities/": string(betaCA),
		} {
			Expect(h.compute().get(path+foreign).status).To(Equal(http.StatusOK), path)
			refused(h.person().get(path+foreign), http.StatusForbidden, "forbidden")
			refused(h.person().get(path+missing), http.StatusNotFound, "not_found")
			refused(h.person().get(path+"net-1"), http.StatusBadRequest, "invalid_request")
			refused(newCaller(h.region).get(path+"net-1"), http.StatusBadRequest, "invalid_request")

			other := strings.ToUpper(strings.ReplaceAll(foreign, "-", ""))
			Expect(h.compute().get(path+other).field("metadata.id")).To(Equal(foreign), "upper case without dashes")
		}
	})

	It("contracts 9.7 images by organization, scope and state", func() {
		images := func(c caller, query string) []string {
			a := c.get("/api/v2/regions/" + string(world.North) + "/images?" + query)
			Expect(a.header.Values("Cache-Control")).To(Equal([]string{"no-cache"}))
			return names(a)
		}
		global := []string{"any", "metal", "pending", "ubuntu-24.04-amd64", "ubuntu-24.04-gpu-amd64", "ubuntu-arm64"}
		ready := []string{"any", "metal", "ubuntu-24.04-amd64", "ubuntu-24.04-gpu-amd64", "ubuntu-arm64"}
		acme, umbrella := "organizationID="+string(world.Acme), "organizationID="+string(world.Umbrella)

		Expect(images(h.compute(), "")).To(Equal(global))
		Expect(images(h.compute(), "scope=owned")).To(Equal(global))
		Expect(images(h.compute(), umbrella)).To(HaveLen(7))
		Expect(images(h.compute(), umbrella+"&scope=owned")).To(Equal([]string{"umbrella-private"}))
		Expect(images(h.person(), acme+"&scope=available&status=ready")).To(Equal(ready))
		Expect(images(h.person(), acme+"&status=pending")).To(Equal([]string{"pending"}))
		Expect(images(h.person(), acme+"&status=pending&status=ready")).To(Equal(global))

		By("organizations that are not the caller's, or none at all, are left out")
		Expect(images(h.person(), umbrella+"&scope=available")).To(Equal(global))
		Expect(images(h.person(), umbrella+"&"+acme+"&scope=owned")).To(BeEmpty())
		Expect(images(h.compute(), "organizationID=acme&scope=owned")).To(BeEmpty())
		refused(h.compute().get("/api/v2/regions/"+missing+"/images"), http.StatusNotFound, "not_found")
		refused(h.compute().get("/api/v2/regions/"+string(world.North)+"/images?scope=mine"), http.StatusBadRequest, "invalid_request")
	})

	It("shows regions, flavors and images of an organization to its members", func() {
		base := "/api/v1/organizations/" + string(world.Acme) + "/regions"
		Expect(names(h.person().get(base))).To(Equal([]string{"north"}))
		flavors := h.person().get(base + "/" + string(world.North) + "/flavors")
		Expect(names(flavors)).To(Equal([]string{"sim-tiny", "sim-standard-4", "sim-arm-4", "sim-pinned", "sim-metal-64", "sim-gpu-8"}))
		Expect(flavors.header.Values("Cache-Control")).To(Equal([]string{"max-age=86400", "private"}))
		Expect(names(h.person().get(base + "/" + string(world.North) + "/images"))).NotTo(ContainElement("pending"))

		refused(h.person().get(base+"/"+missing+"/flavors"), http.StatusNotFound, "not_found")
		foreign := "/api/v1/organizations/" + string(world.Umbrella) + "/regions"
		refused(h.person().get(foreign), http.StatusInternalServerError, "server_error")
		groupless := principal.Impersonate(principal.Principal{
			OrganizationIDs: editor.OrganizationIDs, Type: principal.TypeUser, Actor: "mallory",
		})
		refused(h.compute().as(groupless).get(base), http.StatusForbidden, "forbidden")
	})
})
