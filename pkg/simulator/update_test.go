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
)

var _ = Describe("Updating a server", func() {
	var h *harness
	BeforeEach(func() { h = newHarness() })

	It("contracts 9.12 another name or flavor is 422, a dying server 400, success 202 with the server", func() {
		server := h.running(serverCreate("web-0"))
		update := serverUpdate(server)
		update.Metadata.Description = "new"
		a := h.compute().put(pathOf(server), update)
		Expect(a.status).To(Equal(http.StatusAccepted), a.body)
		Expect(a.field("metadata.description")).To(Equal("new"))
		Expect(shown(h.read(server))).To(Equal("provisioned/Running/healthy"))

		renamed := serverUpdate(server)
		renamed.Metadata.Name = "web-1"
		refused(h.compute().put(pathOf(server), renamed), http.StatusUnprocessableEntity, "unprocessable_content")
		resized := serverUpdate(server)
		resized.Spec.FlavorID = world.FlavorGPU
		refused(h.compute().put(pathOf(server), resized), http.StatusUnprocessableEntity, "unprocessable_content")

		h.compute().delete(pathOf(server))
		refused(h.compute().put(pathOf(server), renamed), http.StatusBadRequest, "invalid_request")
		h.step(2000)
		refused(h.compute().put(pathOf(server), update), http.StatusNotFound, "not_found")
	})

	It("contracts 9.12 references are checked in order, user data only when it changes", func() {
		create := serverCreate("web-0")
		create.Spec.UserData = []byte("#!/bin/sh\n")
		create.Spec.SSHCertificateAuthorityID = alphaCA
		server := h.running(create)
		try := func(change func(*region.ServerSpec)) answer {
			update := serverUpdate(server)
			change(&update.Spec)
			return h.compute().put(pathOf(server), update)
		}
		foreign := &region.ServerNetworking{SecurityGroups: []ids.SecurityGroupID{alphaSG2}}
		refused(try(func(s *region.ServerSpec) { s.Networking, s.ImageID = foreign, missing }), http.StatusUnprocessableEntity, "unprocessable_content")
		refused(try(func(s *region.ServerSpec) { s.ImageID, s.UserData = missing, []byte("x") }), http.StatusNotFound, "not_found")
		refused(try(func(s *region.ServerSpec) { s.ImageID = world.ImageARM }), http.StatusUnprocessableEntity, "unprocessable_content")
		refused(try(func(s *region.ServerSpec) { s.UserData = []byte("\x1f\x8b") }), http.StatusUnprocessableEntity, "unprocessable_content")

		By("the authority of the create is kept, omitted user data is cleared")
		a := try(func(s *region.ServerSpec) { s.UserData = nil })
		Expect(a.field("status.sshCertificateAuthorityId")).To(Equal(string(alphaCA)))
		Expect(a.field("spec.userData")).To(BeNil())
	})

	It("contracts 9.12 who updates becomes who created and modified", func() {
		server := h.running(serverCreate("web-0"))
		Expect(server.Metadata.CreatedBy).To(Equal("alpha-editor"))
		other := editor
		other.Actor = "somebody"
		a := h.compute().as(principal.Service(other)).put(pathOf(server), serverUpdate(server))
		Expect(a.field("metadata.createdBy")).To(Equal("somebody"))
		Expect(a.field("metadata.modifiedBy")).To(Equal("somebody"))
		Expect(a.field("metadata.modifiedTime")).NotTo(BeNil())
	})

	It("contracts 9.12 a public address comes and goes in place", func() {
		server := h.running(serverCreate("web-0"))
		update := serverUpdate(server)
		update.Spec.Networking = &region.ServerNetworking{PublicIP: true}
		Expect(h.compute().put(pathOf(server), update).field("status.publicIP")).To(HavePrefix("198.51.100."))
		update.Spec.Networking.PublicIP = false
		a := h.compute().put(pathOf(server), update)
		Expect(a.field("status.publicIP")).To(BeNil())
		Expect(a.field("spec.networking")).To(BeNil())
		Expect(a.field("status.powerState")).To(Equal("Running"))
	})

	rebuild := func(server region.Server) region.Server {
		update := serverUpdate(server)
		update.Spec.ImageID = world.ImageAny
		a := h.compute().put(pathOf(server), update)
		rebuilt := decoded[region.Server](a, http.StatusAccepted)
		Expect(rebuilt.Metadata.ID).To(Equal(server.Metadata.ID))
		return rebuilt
	}

	It("contracts 9.13 another image rebuilds in place, as newer builds report it", func() {
		server := h.running(serverCreate("web-0"))
		Expect(rebuild(server).Metadata.ProvisioningStatus).To(BeEquivalentTo("provisioning"))
		h.step(1000)
		Expect(shown(h.read(server))).To(Equal("provisioned/Rebuilding/unknown"))
		h.step(2000)
		after := h.read(server)
		Expect(shown(after)).To(Equal("provisioned/Running/healthy"))
		Expect(after.Status).To(Equal(server.Status))
		Expect(after.Spec.ImageID).To(Equal(world.ImageAny))
	})

	It("contracts 9.13 another image rebuilds in place, as older builds report it", func() {
		h.set(`{"rebuildStyle": "old"}`)
		server := h.running(serverCreate("web-0"))
		Expect(shown(rebuild(server))).To(Equal("provisioning/Building/unknown"))
		h.step(2999)
		Expect(shown(h.read(server))).To(Equal("provisioning/Building/unknown"))
		h.step(1)
		after := h.read(server)
		Expect(shown(after)).To(Equal("provisioned/Running/healthy"))
		Expect(after.Status).To(Equal(server.Status))
	})

	It("contracts 9.13 a rebuild before the first launch waits for it", func() {
		server := h.created(serverCreate("web-0"))
		Expect(shown(rebuild(server))).To(Equal("pending//unknown"))
		h.step(2000)
		Expect(shown(h.read(server))).To(Equal("provisioned/Building/degraded"))
		h.step(2000)
		Expect(shown(h.read(server))).To(Equal("provisioned/Rebuilding/unknown"))
		h.step(2000)
		Expect(shown(h.read(server))).To(Equal("provisioned/Running/healthy"))
	})

	It("contracts 9.14 an update without tags removes the instance-id tag", func() {
		server := h.running(serverCreate("web-0"))
		find := func() []string {
			return names(h.compute().get(serversPath + "?tag=compute.unikorn-cloud.org%2Finstance-id%3Dx-web-0"))
		}
		Expect(find()).To(Equal([]string{"web-0"}))
		update := serverUpdate(server)
		update.Metadata.Tags = nil
		Expect(h.compute().put(pathOf(server), update).field("metadata.tags")).To(BeNil())
		Expect(find()).To(BeEmpty())
	})
})
