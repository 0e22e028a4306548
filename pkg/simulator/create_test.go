// SPDX-License-Identifier: Apache-2.0

package simulator_test

import (
	"encoding/json"
	"net/http"

	"github.com/google/uuid"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
)

// flaw is one thing wrong with a create, and what region says to it.
type flaw struct {
	name   string
	make   func(*region.ServerCreateSpec)
	status int
}

// flaws in the order in which region finds them.
var flaws = []flaw{
	{"flavor id", func(s *region.ServerCreateSpec) { s.FlavorID = "small" }, http.StatusBadRequest},
	{"network", func(s *region.ServerCreateSpec) { s.NetworkID = missing }, http.StatusNotFound},
	{"injection", func(s *region.ServerCreateSpec) {
		s.SSHInjection, s.SSHCertificateAuthorityID = region.SSHInjectionNone, alphaCA
	}, http.StatusUnprocessableEntity},
	{"user data", func(s *region.ServerCreateSpec) { s.UserData = []byte("hello") }, http.StatusUnprocessableEntity},
	{"missing authority", func(s *region.ServerCreateSpec) { s.SSHCertificateAuthorityID = missing }, http.StatusNotFound},
	{"missing group", func(s *region.ServerCreateSpec) {
		s.Networking = &region.ServerNetworking{SecurityGroups: []ids.SecurityGroupID{missing}}
	}, http.StatusNotFound},
	{"missing image", func(s *region.ServerCreateSpec) { s.ImageID = missing }, http.StatusNotFound},
	{"pending image", func(s *region.ServerCreateSpec) { s.ImageID = world.ImagePending }, http.StatusUnprocessableEntity},
}

var _ = Describe("Creating a server", func() {
	var h *harness
	BeforeEach(func() { h = newHarness() })

	code := map[int]string{
		http.StatusBadRequest: "invalid_request", http.StatusNotFound: "not_found", http.StatusForbidden: "forbidden",
		http.StatusUnprocessableEntity: "unprocessable_content", http.StatusConflict: "conflict",
		http.StatusInternalServerError: "server_error",
	}
	refuses := func(status int, change func(*region.ServerCreateSpec)) {
		GinkgoHelper()
		create := serverCreate("web-0")
		change(&create.Spec)
		refused(h.compute().post(serversPath, create), status, code[status])
		Expect(h.adminCall(http.MethodGet, "/servers", nil).body).To(Equal("[]"))
	}

	It("contracts 9.8 refuses one flaw at a time, the earlier of two first", func() {
		for i, first := range flaws {
			By(first.name)
			refuses(first.status, first.make)
			for _, second := range flaws[i+1:] {
				By(first.name + " before " + second.name)
				refuses(first.status, func(s *region.ServerCreateSpec) { second.make(s); first.make(s) })
			}
		}
	})

	DescribeTable("contracts 9.8 refuses",
		func(status int, change func(*region.ServerCreateSpec)) { refuses(status, change) },
		Entry("a CA injection without a CA", 422, func(s *region.ServerCreateSpec) { s.SSHInjection = region.SSHInjectionCA }),
		Entry("a keypair with a CA", 422, func(s *region.ServerCreateSpec) {
			s.SSHInjection, s.SSHCertificateAuthorityID = region.SSHInjectionIdentityKeypair, alphaCA
		}),
		Entry("a keypair on a given host", 422, func(s *region.ServerCreateSpec) { s.InfrastructureRef = "host" }),
		Entry("gzip with a CA", 422, func(s *region.ServerCreateSpec) {
			s.UserData, s.SSHCertificateAuthorityID = []byte("\x1f\x8b"), alphaCA
		}),
		Entry("a CA of another project", 422, func(s *region.ServerCreateSpec) { s.SSHCertificateAuthorityID = betaCA }),
		Entry("a group of another network", 422, func(s *region.ServerCreateSpec) {
			s.Networking = &region.ServerNetworking{SecurityGroups: []ids.SecurityGroupID{alphaSG, alphaSG2}}
		}),
		Entry("another organization's image", 404, func(s *region.ServerCreateSpec) { s.ImageID = world.ImageOwned }),
		Entry("a missing flavor", 422, func(s *region.ServerCreateSpec) { s.FlavorID = missing }),
		Entry("another architecture", 422, func(s *region.ServerCreateSpec) { s.FlavorID = world.FlavorARM }),
		Entry("a small disk", 422, func(s *region.ServerCreateSpec) { s.FlavorID = world.FlavorTiny }),
		Entry("a virtual image on metal", 422, func(s *region.ServerCreateSpec) { s.FlavorID = world.FlavorMetal }),
		Entry("a metal image on a virtual machine", 422, func(s *region.ServerCreateSpec) { s.ImageID = world.ImageMetal }),
		Entry("a pinned flavor without a host", 422, func(s *region.ServerCreateSpec) { s.FlavorID = world.FlavorPinned }),
		Entry("a source that is no prefix", 422, func(s *region.ServerCreateSpec) {
			s.Networking = &region.ServerNetworking{AllowedSourceAddresses: []string{"10.1.0.0"}}
		}),
		Entry("an IPv6 source", 500, func(s *region.ServerCreateSpec) {
			s.Networking = &region.ServerNetworking{AllowedSourceAddresses: []string{"fd00::/64"}}
		}),
		Entry("a group id that is none", 400, func(s *region.ServerCreateSpec) {
			s.Networking = &region.ServerNetworking{SecurityGroups: []ids.SecurityGroupID{"ssh"}}
		}),
	)

	It("contracts 9.8 refuses bodies that are not as described", func() {
		for _, body := range []string{
			`{`, `[]`, `{"metadata": {"name": "web-0"}}`,
			`{"metadata": {"name": "-web"}, "spec": {}}`, `{"metadata": {"name": "web"}, "spec": {"networkId": "` + string(alphaNet) + `"}}`,
		} {
			refused(h.compute().post(serversPath, body), http.StatusBadRequest, "invalid_request")
		}
	})

	It("contracts 9.8 accepts an image for any machine, an uncurated one, and a host for a pinned flavor", func() {
		for name, change := range map[string]func(*region.ServerCreateSpec){
			"any-metal":   func(s *region.ServerCreateSpec) { s.FlavorID, s.ImageID = world.FlavorMetal, world.ImageAny },
			"any-virtual": func(s *region.ServerCreateSpec) { s.ImageID = world.ImageAny },
			"uncurated":   func(*region.ServerCreateSpec) {},
			"arm":         func(s *region.ServerCreateSpec) { s.FlavorID, s.ImageID = world.FlavorARM, world.ImageARM },
			"pinned": func(s *region.ServerCreateSpec) {
				s.FlavorID, s.InfrastructureRef, s.SSHInjection = world.FlavorPinned, "host", region.SSHInjectionNone
			},
			"gzip":    func(s *region.ServerCreateSpec) { s.UserData = []byte("\x1f\x8b") },
			"managed": func(s *region.ServerCreateSpec) { s.SSHCertificateAuthorityID = alphaCA },
		} {
			create := serverCreate(name)
			change(&create.Spec)
			h.created(create)
		}
	})

	It("contracts 9.8 a name is taken on its network until the server is gone", func() {
		server := h.created(serverCreate("web-0"))
		refused(h.compute().post(serversPath, serverCreate("web-0")), http.StatusConflict, "conflict")
		elsewhere := serverCreate("web-0")
		elsewhere.Spec.NetworkID = alphaNet2
		h.created(elsewhere)

		Expect(h.compute().delete(pathOf(server)).status).To(Equal(http.StatusAccepted))
		refused(h.compute().post(serversPath, serverCreate("web-0")), http.StatusConflict, "conflict")
		h.step(2000)
		h.created(serverCreate("web-0"))
	})

	It("contracts 9.9 ids are derived from network and name", func() {
		Expect(h.created(serverCreate("web-1")).Metadata.ID).To(Equal("fec34c20-b989-5630-b619-2587bf28a979"))
		for _, name := range []string{"a", "b", "c", "d", "Web-0", "web.0"} {
			namespace := uuid.MustParse(string(alphaNet))
			id := uuid.NewSHA1(namespace, []byte(name))
			for id.String()[0] <= '9' {
				id = uuid.NewSHA1(namespace, id[:])
			}
			Expect(h.created(serverCreate(name)).Metadata.ID).To(Equal(id.String()), name)
		}
	})

	It("contracts 9.21 reads back what is empty as absent, and prefixes without host bits", func() {
		readBack := func(name, networking string) any {
			GinkgoHelper()
			create := serverCreate(name)
			raw, err := json.Marshal(create)
			Expect(err).NotTo(HaveOccurred())
			var body map[string]any
			Expect(json.Unmarshal(raw, &body)).To(Succeed())
			body["spec"].(map[string]any)["networking"] = json.RawMessage(networking)
			a := h.compute().post(serversPath, body)
			Expect(a.status).To(Equal(http.StatusCreated), a.body)
			Expect(a.field("spec.userData")).To(BeNil())
			read := h.compute().get(serversPath + "/" + a.field("metadata.id").(string))
			Expect(read.field("spec")).To(Equal(a.field("spec")))
			return a.field("spec.networking")
		}
		Expect(readBack("a", `{}`)).To(BeNil())
		Expect(readBack("b", `{"publicIP": false, "securityGroups": [], "allowedSourceAddresses": []}`)).To(BeNil())
		Expect(readBack("c", `{"publicIP": true, "securityGroups": []}`)).To(Equal(map[string]any{"publicIP": true}))
		Expect(readBack("d", `{"allowedSourceAddresses": ["10.9.0.0/16", "10.1.0.7/24", "10.1.0.0/24"]}`)).
			To(Equal(map[string]any{"allowedSourceAddresses": []any{"10.9.0.0/16", "10.1.0.0/24", "10.1.0.0/24"}}))
	})

	It("contracts 9.21 shows under status what only a create can say", func() {
		create := serverCreate("web-0")
		create.Spec.SSHCertificateAuthorityID = alphaCA
		a := h.compute().post(serversPath, create)
		Expect(a.field("status.sshCertificateAuthorityId")).To(Equal(string(alphaCA)))
		Expect(a.field("status.sshInjection")).To(Equal("ca"))
		Expect(a.field("spec.sshCertificateAuthorityId")).To(BeNil())
		Expect(a.field("status.networkId")).To(Equal(string(alphaNet)))
		Expect(a.field("status.regionId")).To(Equal(string(world.North)))
		Expect(a.field("metadata.projectId")).To(Equal(string(world.Alpha)))
	})
})
