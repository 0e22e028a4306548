// SPDX-License-Identifier: Apache-2.0

package simulator_test

import (
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

var _ = Describe("Networks and authorities", func() {
	var h *harness
	var seeder caller
	BeforeEach(func() {
		h = newHarness()
		seeder = newCaller(h.region, pki.seeder)
	})

	networkCreate := func() region.NetworkCreate {
		return region.NetworkCreate{Metadata: unikorn.WriteMetadata{Name: "new-net"}, Spec: region.NetworkCreateSpec{
			OrganizationID: world.Acme, ProjectID: world.Alpha, RegionID: world.North,
			Prefix: "10.9.0.0/24", DNSNameservers: []string{},
		}}
	}

	It("makes, changes and removes a network, which is charged for", func() {
		refused(h.compute().post("/api/v2/networks", networkCreate()), http.StatusForbidden, "forbidden")
		network := decoded[region.Network](seeder.post("/api/v2/networks", networkCreate()), http.StatusCreated)
		path := "/api/v2/networks/" + network.Metadata.ID
		Expect(h.adminCall(http.MethodGet, "/allocations", nil).body).To(ContainSubstring(`"kind":"networks"`))

		update := region.NetworkUpdate{Metadata: unikorn.WriteMetadata{Name: "new-net", Description: "changed"}, Spec: network.Spec}
		Expect(seeder.put(path, update).status).To(Equal(http.StatusAccepted))
		Expect(h.person().get(path).field("metadata.description")).To(Equal("changed"))

		create := serverCreate("web-0")
		create.Spec.NetworkID = ids.NetworkID(network.Metadata.ID)
		server := h.running(create)
		Expect(server.Status.PrivateIP).To(HavePrefix("10.9.0."))
		refused(seeder.delete(path), http.StatusForbidden, "forbidden")
		h.compute().delete(pathOf(server))
		refused(seeder.delete(path), http.StatusForbidden, "forbidden")
		h.step(2000)
		Expect(seeder.delete(path).status).To(Equal(http.StatusAccepted))
		refused(seeder.get(path), http.StatusNotFound, "not_found")
		Expect(h.adminCall(http.MethodGet, "/allocations", nil).body).To(Equal("[]"))
	})

	It("refuses networks that cannot be", func() {
		refuses := func(status int, code string, change func(*region.NetworkCreateSpec)) {
			GinkgoHelper()
			create := networkCreate()
			change(&create.Spec)
			refused(seeder.post("/api/v2/networks", create), status, code)
		}
		refuses(http.StatusBadRequest, "invalid_request", func(s *region.NetworkCreateSpec) { s.Prefix = "10.9.0.0/25" })
		refuses(http.StatusBadRequest, "invalid_request", func(s *region.NetworkCreateSpec) { s.RegionID = "north" })
		refuses(http.StatusNotFound, "not_found", func(s *region.NetworkCreateSpec) { s.RegionID = missing })
		refuses(http.StatusInternalServerError, "server_error", func(s *region.NetworkCreateSpec) { s.ProjectID = "alpha" })

		half := editor
		half.ProjectID = ""
		encoded, err := half.Encode()
		Expect(err).NotTo(HaveOccurred())
		refused(seeder.as(header(encoded)).post("/api/v2/networks", networkCreate()), http.StatusInternalServerError, "server_error")
		refused(seeder.as(principal.Impersonate(editor)).post("/api/v2/networks", networkCreate()), http.StatusForbidden, "forbidden")
	})

	It("has an address for as many servers as the prefix holds, and fails the rest", func() {
		create := networkCreate()
		create.Spec.Prefix = "10.9.0.0/24"
		network := decoded[region.Network](seeder.post("/api/v2/networks", create), http.StatusCreated)
		plant := map[string]any{"networkId": network.Metadata.ID, "flavorId": world.FlavorStandard, "imageId": world.ImageUbuntu}
		for i := range 245 {
			plant["name"] = "planted-" + string(rune('a'+i/26)) + string(rune('a'+i%26))
			h.adminCall(http.MethodPost, "/servers", plant)
		}
		last := serverCreate("last")
		last.Spec.NetworkID = ids.NetworkID(network.Metadata.ID)
		server := h.created(last)
		h.step(3000)
		Expect(shown(h.read(server))).To(Equal("error//degraded"))
	})

	It("registers and removes authorities", func() {
		const path = "/api/v2/sshcertificateauthorities"
		key, isKey := h.person().get(path + "/" + string(alphaCA)).field("spec.publicKey").(string)
		Expect(isKey).To(BeTrue())
		Expect(key).To(MatchRegexp("^ssh-ed25519 AAAA[0-9A-Za-z+/=]+ alpha-ca$"))
		create := region.SSHCertificateAuthorityCreate{
			Metadata: unikorn.WriteMetadata{Name: "new-ca"},
			Spec:     region.SSHCertificateAuthorityCreateSpec{OrganizationID: world.Acme, ProjectID: world.Alpha, PublicKey: key},
		}
		refused(h.compute().post(path, create), http.StatusForbidden, "forbidden")
		authority := decoded[region.SSHCertificateAuthority](seeder.post(path, create), http.StatusCreated)
		for _, bad := range []string{"hello", key + "\n" + key, "ssh-dss AAAA"} {
			create.Spec.PublicKey = bad
			refused(seeder.post(path, create), http.StatusUnprocessableEntity, "unprocessable_content")
		}

		managed := serverCreate("web-0")
		managed.Spec.SSHCertificateAuthorityID = ids.SSHCertificateAuthorityID(authority.Metadata.ID)
		server := h.created(managed)
		refused(seeder.delete(path+"/"+authority.Metadata.ID), http.StatusForbidden, "forbidden")
		h.compute().delete(pathOf(server))
		h.step(2000)
		Expect(seeder.delete(path + "/" + authority.Metadata.ID).status).To(Equal(http.StatusAccepted))
		refused(seeder.get(path+"/"+authority.Metadata.ID), http.StatusNotFound, "not_found")
	})
})
