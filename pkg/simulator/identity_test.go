// SPDX-License-Identifier: Apache-2.0

package simulator_test

import (
	"fmt"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/unikorn-cloud/instance-apiserver/pkg/identity"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

func allocationsPath(organization ids.OrganizationID, project ids.ProjectID) string {
	return fmt.Sprintf("/api/v1/organizations/%s/projects/%s/allocations", organization, project)
}

// charge is what an instance is charged with.
func charge(servers, gpus, addresses int) identity.AllocationWrite {
	return identity.AllocationWrite{
		Metadata: unikorn.WriteMetadata{Name: "undefined"},
		Spec: identity.AllocationSpec{
			Kind: "computeinstances.compute.unikorn-cloud.org", ID: "fec34c20-b989-5630-b619-2587bf28a979",
			Allocations: []identity.ResourceAllocation{
				{Kind: "servers", Committed: servers}, {Kind: "gpus", Committed: gpus}, {Kind: "floatingips", Committed: addresses},
			},
		},
	}
}

var _ = Describe("Identity", func() {
	var h *harness
	BeforeEach(func() { h = newHarness() })

	alpha := allocationsPath(world.Acme, world.Alpha)
	exhausted := func(a answer, text string) {
		GinkgoHelper()
		refused(a, http.StatusForbidden, "forbidden")
		Expect(a.field("error_description")).To(Equal(text))
	}

	It("contracts 9.22 every POST is an allocation of its own, and counted", func() {
		first := h.charger().post(alpha, charge(1, 0, 1))
		second := h.charger().post(alpha, charge(1, 0, 1))
		Expect(first.status).To(Equal(http.StatusCreated), first.body)
		Expect(first.field("metadata.id")).NotTo(Equal(second.field("metadata.id")))
		Expect(first.field("metadata.provisioningStatus")).To(Equal("provisioned"))
		Expect(h.charger().get(alpha + "/" + first.field("metadata.id").(string)).body).To(MatchJSON(first.body))
		Expect(decoded[[]identity.Allocation](h.adminCall(http.MethodGet, "/allocations", nil), http.StatusOK)).To(HaveLen(2))

		exhausted(h.charger().post(alpha, charge(9, 0, 0)), "servers: total 11 exceeds quota limit 10")
		Expect(h.charger().post(allocationsPath(world.Acme, world.Beta), charge(8, 0, 0)).status).To(Equal(http.StatusCreated), "up to the limit")
		exhausted(h.charger().post(alpha, charge(1, 0, 0)), "servers: total 11 exceeds quota limit 10")
		exhausted(h.charger().post(alpha, charge(0, 3, 0)), "gpus: total 3 exceeds quota limit 2")
		exhausted(h.charger().post(alpha, charge(0, 0, 2)), "floatingips: total 4 exceeds quota limit 3")
	})

	It("contracts 9.22 kinds without a limit are never refused, missing ones have the default", func() {
		gamma := allocationsPath(world.Umbrella, world.Gamma)
		Expect(h.charger().post(gamma, charge(0, 40, 1000000)).status).To(Equal(http.StatusCreated))
		exhausted(h.charger().post(gamma, charge(0, 1, 0)), "gpus: total 41 exceeds quota limit 40")
		exhausted(h.charger().post(gamma, charge(11, 0, 0)), "servers: total 11 exceeds quota limit 10")
	})

	It("contracts 9.22 PUT counts the new value in place of the old one", func() {
		path := alpha + "/" + h.charger().post(alpha, charge(9, 0, 0)).field("metadata.id").(string)
		other := editor
		other.Actor = "somebody"
		a := h.charger().as(principal.Service(other)).put(path, charge(10, 1, 0))
		Expect(a.status).To(Equal(http.StatusOK), a.body)
		Expect(a.field("metadata.createdBy")).To(Equal("somebody"))
		exhausted(h.charger().put(path, charge(11, 0, 0)), "servers: total 11 exceeds quota limit 10")
		Expect(h.charger().get(path).body).To(MatchJSON(a.body), "a refused PUT changes nothing")
	})

	It("contracts 9.22 refuses what cannot be read, and what no label can hold", func() {
		for _, body := range []string{`{`, `{}`, `{"metadata": {"name": "undefined"}, "spec": {"kind": "a", "id": "b"}}`,
			`{"metadata": {"name": "undefined"}, "spec": {"kind": "a", "id": "b", "allocations": [{"kind": "servers"}]}}`} {
			refused(h.charger().post(alpha, body), http.StatusBadRequest, "invalid_request")
		}
		unlabelled := charge(1, 0, 0)
		unlabelled.Spec.ID = "not a label"
		refused(h.charger().post(alpha, unlabelled), http.StatusInternalServerError, "server_error")
		denied := h.charger().as(principal.Impersonate(editor)).post(alpha, charge(1, 0, 0))
		refused(denied, http.StatusForbidden, "forbidden")
		Expect(denied.field("error_description")).To(And(ContainSubstring("rbac"), Not(ContainSubstring("quota limit"))))
	})

	It("contracts 9.23 an unknown project is 500 for allocations, 404 for itself", func() {
		id := h.charger().post(alpha, charge(1, 0, 0)).field("metadata.id").(string)
		for _, path := range []string{allocationsPath(world.Acme, missing), allocationsPath(world.Umbrella, world.Alpha), allocationsPath(missing, world.Alpha)} {
			refused(h.charger().post(path, charge(1, 0, 0)), http.StatusInternalServerError, "server_error")
			refused(h.charger().get(path+"/"+id), http.StatusInternalServerError, "server_error")
			refused(h.charger().put(path+"/"+id, charge(1, 0, 0)), http.StatusInternalServerError, "server_error")
			refused(h.charger().delete(path+"/"+id), http.StatusInternalServerError, "server_error")
		}
		projects := "/api/v1/organizations/" + string(world.Acme) + "/projects"
		refused(h.charger().get(projects+"/"+missing), http.StatusNotFound, "not_found")
		Expect(h.charger().get(projects + "/" + string(world.Alpha)).field("metadata.name")).To(Equal("alpha"))
		Expect(names(h.charger().get(projects))).To(Equal([]string{"alpha", "beta"}))
		Expect(names(h.charger().as(principal.Impersonate(editor)).get(projects))).To(Equal([]string{"alpha"}))

		By("a project that vanishes")
		h.adminCall(http.MethodDelete, "/projects/"+string(world.Alpha), nil)
		refused(h.charger().delete(alpha+"/"+id), http.StatusInternalServerError, "server_error")
		Expect(h.adminCall(http.MethodGet, "/allocations", nil).body).To(Equal("[]"))

		By("and is made again")
		again := fmt.Sprintf(`{"organizationId": %q, "name": "alpha"}`, world.Acme)
		h.adminCall(http.MethodPut, "/projects/"+string(world.Alpha), again)
		Expect(h.charger().post(alpha, charge(1, 0, 0)).status).To(Equal(http.StatusCreated))
		admin := caller{base: h.admin, client: http.DefaultClient}
		Expect(admin.put("/projects/"+string(world.Alpha), again).status).To(Equal(http.StatusConflict))
		Expect(admin.put("/projects/"+missing, `{"organizationId": "`+missing+`"}`).status).To(Equal(http.StatusNotFound))
	})

	It("contracts 9.24 DELETE is 202, again 404", func() {
		path := alpha + "/" + h.charger().post(alpha, charge(10, 0, 0)).field("metadata.id").(string)
		refused(h.charger().delete(allocationsPath(world.Acme, world.Beta)+path[len(alpha):]), http.StatusNotFound, "not_found")
		a := h.charger().delete(path)
		Expect(a.status).To(Equal(http.StatusAccepted))
		Expect(a.body).To(BeEmpty())
		refused(h.charger().delete(path), http.StatusNotFound, "not_found")
		refused(h.charger().put(path, charge(1, 0, 0)), http.StatusNotFound, "not_found")
		Expect(h.charger().post(alpha, charge(10, 0, 0)).status).To(Equal(http.StatusCreated), "the quota is free again")
	})

	It("shows quotas to services only when they may read them", func() {
		path := "/api/v1/organizations/" + string(world.Acme) + "/quotas"
		refused(h.charger().get(path), http.StatusForbidden, "forbidden")
		h.set(`{"quotasReadable": true}`)
		h.charger().post(alpha, charge(3, 0, 1))
		quotas := map[string]identity.Quota{}
		for _, quota := range decoded[identity.Quotas](h.charger().get(path), http.StatusOK).Quotas {
			quotas[quota.Kind] = quota
		}
		Expect(quotas).To(HaveLen(9))
		Expect(quotas["servers"].Used).To(Equal(3))
		Expect(quotas["servers"].Free).To(Equal(7))
		Expect(quotas["floatingips"].Quantity).To(Equal(3))
		Expect(quotas["gpus"].Default).To(Equal(40))
	})

	It("does not list organizations to services", func() {
		refused(h.charger().get("/api/v1/organizations"), http.StatusNotFound, "not_found")
		refused(h.charger().get("/api/v1/organizations/"+string(world.Acme)), http.StatusForbidden, "forbidden")
	})
})
