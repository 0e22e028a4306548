// SPDX-License-Identifier: Apache-2.0

package simulator_test

import (
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/crypto/ssh"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

var _ = Describe("Verbs of a server", func() {
	var h *harness
	BeforeEach(func() { h = newHarness() })

	It("contracts 9.17 the ssh key is that of the network, and only of servers made with it", func() {
		key := func(server region.Server) any {
			GinkgoHelper()
			a := h.compute().get(pathOf(server) + "/sshkey")
			Expect(a.status).To(Equal(http.StatusOK), a.status)
			return a.field("privateKey")
		}
		first, second := h.created(serverCreate("web-0")), h.created(serverCreate("web-1"))
		elsewhere := serverCreate("web-0")
		elsewhere.Spec.NetworkID = alphaNet2
		Expect(key(first)).To(HavePrefix("-----BEGIN OPENSSH PRIVATE KEY-----"))
		_, err := ssh.ParsePrivateKey([]byte(key(first).(string)))
		Expect(err).NotTo(HaveOccurred())
		Expect(key(second)).To(Equal(key(first)))
		Expect(key(h.created(elsewhere))).NotTo(Equal(key(first)))

		managed, bare := serverCreate("managed"), serverCreate("bare")
		managed.Spec.SSHCertificateAuthorityID = alphaCA
		bare.Spec.SSHInjection = region.SSHInjectionNone
		for _, create := range []region.ServerCreate{managed, bare} {
			refused(h.compute().get(pathOf(h.created(create))+"/sshkey"), http.StatusNotFound, "not_found")
		}
		Expect(h.adminCall(http.MethodGet, "/requests", nil).body).NotTo(ContainSubstring("BEGIN"))
	})

	It("contracts 9.18 every console session has a URL of its own, and needs a running server", func() {
		server := h.created(serverCreate("web-0"))
		refused(h.compute().get(pathOf(server)+"/consolesessions"), http.StatusNotFound, "not_found")
		h.step(2000)
		refused(h.compute().get(pathOf(server)+"/consolesessions"), http.StatusBadRequest, "invalid_request")
		h.step(1000)
		first := h.compute().get(pathOf(server) + "/consolesessions").field("url")
		Expect(first).To(HavePrefix("https://"))
		Expect(h.compute().get(pathOf(server) + "/consolesessions").field("url")).NotTo(Equal(first))
	})

	It("contracts 9.19 a snapshot is not ready first, then an image of the organization with region's tags", func() {
		server := h.running(serverCreate("web-0"))
		images := func(query string) []region.Image {
			path := "/api/v2/regions/" + string(world.North) + "/images?organizationID=" + string(world.Acme) + "&" + query
			return decoded[[]region.Image](h.compute().get(path), http.StatusOK)
		}
		image := decoded[region.Image](h.compute().post(pathOf(server)+"/snapshot", map[string]any{
			"metadata": unikorn.WriteMetadata{Name: "mine", Tags: []unikorn.Tag{
				{Name: "z", Value: "1"},
				{Name: "images.unikorn-cloud.org:source", Value: "forged"},
				{Name: "images.unikorn-cloud.org:organization-id", Value: string(world.Umbrella)},
			}},
			"spec": map[string]any{},
		}), http.StatusCreated)
		Expect(image.Status.State).To(Equal(region.ImagePending))
		Expect(image.Metadata.Tags).To(Equal([]unikorn.Tag{
			{Name: "images.unikorn-cloud.org:organization-id", Value: string(world.Acme)},
			{Name: "images.unikorn-cloud.org:source", Value: "snapshot"},
			{Name: "z", Value: "1"},
		}))
		Expect(image.Spec.SoftwareVersions).To(HaveKey("kubernetes"), "what the server's image was")
		Expect(images("scope=owned&status=ready")).To(BeEmpty())
		h.step(600)
		Expect(images("scope=owned&status=creating")).To(HaveLen(1))
		h.step(2400)
		ready := images("scope=owned&status=ready")
		Expect(ready).To(HaveLen(1))
		Expect(ready[0].Metadata).To(Equal(image.Metadata))

		By("it boots, in its organization only")
		again := serverCreate("web-1")
		again.Spec.ImageID = ids.ImageID(image.Metadata.ID)
		h.created(again)
		again.Spec.NetworkID = gammaNet
		refused(h.compute().post(serversPath, again), http.StatusNotFound, "not_found")
	})

	It("contracts 9.19 a snapshot that the provider refuses is 500, without a spec 400", func() {
		server := h.created(serverCreate("web-0"))
		snapshot := map[string]any{"metadata": map[string]any{"name": "mine"}, "spec": map[string]any{}}
		refused(h.compute().post(pathOf(server)+"/snapshot", snapshot), http.StatusInternalServerError, "server_error")
		h.step(2000)
		refused(h.compute().post(pathOf(server)+"/snapshot", snapshot), http.StatusInternalServerError, "server_error")
		delete(snapshot, "spec")
		refused(h.compute().post(pathOf(server)+"/snapshot", snapshot), http.StatusBadRequest, "invalid_request")
	})

	It("shows a console that grows with time and with power", func() {
		server := h.created(serverCreate("web-0"))
		output := func(query string) []string {
			a := h.compute().get(pathOf(server) + "/consoleoutput" + query)
			return strings.Split(strings.TrimSuffix(decoded[region.ConsoleOutput](a, http.StatusOK).Contents, "\n"), "\n")
		}
		refused(h.compute().get(pathOf(server)+"/consoleoutput"), http.StatusNotFound, "not_found")
		h.step(2000)
		refused(h.compute().get(pathOf(server)+"/consoleoutput"), http.StatusBadRequest, "invalid_request")
		h.step(1000)
		first := output("")
		Expect(first).To(ContainElement("web-0 login: "))
		h.step(5000)
		later := output("")
		Expect(later[:len(first)]).To(Equal(first))
		Expect(later).To(HaveLen(len(first) + 5))
		Expect(output("?length=2")).To(Equal(later[len(later)-2:]))
		h.compute().post(pathOf(server)+"/softreboot", nil)
		Expect(output("")).To(ContainElement("reboot: Restarting system"))
		h.compute().post(pathOf(server)+"/stop", nil)
		Expect(output("")).NotTo(ContainElement("reboot: Power down"))
		h.step(5000)
		Expect(output("?length=1")).To(Equal([]string{"reboot: Power down"}))
		h.step(5000)
		Expect(output("?length=1")).To(Equal([]string{"reboot: Power down"}), "nothing writes any more")
	})
})
