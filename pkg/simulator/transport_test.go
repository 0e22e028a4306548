// SPDX-License-Identifier: Apache-2.0

package simulator_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
)

var _ = Describe("Transport", func() {
	var h *harness
	BeforeEach(func() { h = newHarness() })

	It("closes idle connections without a word", func() {
		h.set(`{"idleMillis": 50}`)
		for _, base := range []string{h.region, h.identity} {
			conn, err := tls.Dial("tcp", strings.TrimPrefix(base, "https://"), &tls.Config{
				RootCAs: pki.pool, Certificates: []tls.Certificate{pki.compute},
			})
			Expect(err).NotTo(HaveOccurred())
			Expect(conn.SetDeadline(time.Now().Add(patience))).To(Succeed())
			_, err = io.WriteString(conn, "GET /nothing HTTP/1.1\r\nHost: simulator\r\n\r\n")
			Expect(err).NotTo(HaveOccurred())
			reader := bufio.NewReader(conn)
			response, err := http.ReadResponse(reader, nil)
			Expect(err).NotTo(HaveOccurred())
			_, err = io.Copy(io.Discard, response.Body)
			Expect(err).NotTo(HaveOccurred())
			_, err = reader.ReadByte()
			Expect(err).To(MatchError(io.EOF))
			Expect(conn.Close()).To(Succeed())
		}
	})

	It("refuses clients that speak an older TLS than 1.3, and certificates of others", func() {
		old := newCaller(h.region, pki.compute)
		old.client.Transport.(*http.Transport).TLSClientConfig.MaxVersion = tls.VersionTLS12
		_, err := old.try(http.MethodGet, "/", nil)
		Expect(err).To(HaveOccurred())
		forged := newCaller(h.region)
		forged.client.Transport.(*http.Transport).TLSClientConfig.GetClientCertificate =
			func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pki.foreign, nil }
		_, err = forged.try(http.MethodGet, "/", nil)
		Expect(err).To(HaveOccurred())
	})

	It("speaks HTTP/2", func() {
		c := newCaller(h.region, pki.compute)
		c.client.Transport.(*http.Transport).ForceAttemptHTTP2 = true
		Expect(names(c.get("/api/v2/networks"))).To(HaveLen(4))
		h.faults(`[{"method": "GET", "status": 0}]`)
		_, err := c.try(http.MethodGet, "/api/v2/networks", nil)
		Expect(err).To(HaveOccurred())
	})

	It("refuses bodies that are too slow, too large or of another type", func() {
		slow, writer := io.Pipe()
		DeferCleanup(writer.Close)
		request, err := http.NewRequest(http.MethodPost, h.region+serversPath, slow)
		Expect(err).NotTo(HaveOccurred())
		Expect(h.compute().credential(request.Context(), request)).To(Succeed())
		request.Header.Set("Content-Type", "application/json")
		response, err := h.compute().client.Do(request)
		Expect(err).NotTo(HaveOccurred())
		Expect(response.Body.Close()).To(Succeed())
		Expect(response.StatusCode).To(Equal(http.StatusBadRequest))

		large := fmt.Sprintf(`{"metadata": {"name": "web-0", "description": %q}, "spec": {}}`, strings.Repeat("x", 2_000_000))
		refused(h.compute().post(serversPath, large), http.StatusInternalServerError, "server_error")
		refused(h.compute().with("Content-Type", "text/plain").post(serversPath, serverCreate("web-0")), http.StatusBadRequest, "invalid_request")
	})

	It("shows reads what was there a moment ago, writes what is there now", func() {
		h.set(`{"readLagMillis": 200}`)
		h.clock.Step(time.Minute)
		server := h.created(serverCreate("web-0"))
		refused(h.compute().get(pathOf(server)), http.StatusNotFound, "not_found")
		Expect(names(h.compute().get(serversPath))).To(BeEmpty())
		refused(h.compute().post(serversPath, serverCreate("web-0")), http.StatusConflict, "conflict")
		h.step(200)
		Expect(shown(h.read(server))).To(Equal("pending//unknown"))

		h.compute().delete(pathOf(server))
		Expect(h.read(server).Metadata.DeletionTime).To(BeNil())
		h.step(200)
		Expect(h.read(server).Metadata.DeletionTime).NotTo(BeNil())
		h.step(2000)
		refused(h.compute().get(pathOf(server)), http.StatusNotFound, "not_found")

		alpha := allocationsPath(world.Acme, world.Alpha)
		path := alpha + "/" + h.charger().post(alpha, charge(1, 0, 0)).field("metadata.id").(string)
		refused(h.charger().get(path), http.StatusNotFound, "not_found")
		Expect(h.charger().delete(path).status).To(Equal(http.StatusAccepted), "a write sees it")
	})
})
