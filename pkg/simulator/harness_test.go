// SPDX-License-Identifier: Apache-2.0

package simulator_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/settings"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
)

// patience is how long to wait for what takes no time but the machine's.
const patience = 30 * time.Second

// harness is a simulator on loopback that moves only when a spec says so.
type harness struct {
	clock                   *clocktesting.FakeClock
	region, identity, admin string
}

// newHarness starts a simulator whose reads do not lag, and ends it with the
// spec.
func newHarness() *harness {
	h := &harness{clock: clocktesting.NewFakeClock(time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC))}
	initial := settings.Default()
	initial.ReadLagMillis = 0
	simulated, err := simulator.New(h.clock, initial)
	Expect(err).NotTo(HaveOccurred())

	ctx, cancel := context.WithCancel(context.Background())
	listeners := simulator.Listeners{Region: listen(), Identity: listen(), Admin: listen()}
	h.region = "https://" + listeners.Region.Addr().String()
	h.identity = "https://" + listeners.Identity.Addr().String()
	h.admin = "http://" + listeners.Admin.Addr().String()
	ended := make(chan error, 1)
	go func() {
		ended <- simulated.Serve(ctx, listeners, &tls.Config{Certificates: []tls.Certificate{pki.server}, ClientCAs: pki.pool})
	}()
	DeferCleanup(func() {
		cancel()
		Eventually(ended, patience).Should(Receive(BeNil()))
	})
	return h
}

func listen() net.Listener {
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	Expect(err).NotTo(HaveOccurred())
	return listener
}

// step lets time pass for the simulator.
func (h *harness) step(millis int) {
	h.clock.Step(time.Duration(millis) * time.Millisecond)
}

// caller is a service that calls, with whatever it sends to say for whom.
type caller struct {
	base       string
	client     *http.Client
	credential principal.Credential
	headers    map[string]string
}

func newCaller(base string, certificates ...tls.Certificate) caller {
	return caller{
		base: base,
		client: &http.Client{Timeout: patience, Transport: &http.Transport{
			DisableKeepAlives: true,
			TLSClientConfig:   &tls.Config{RootCAs: pki.pool, Certificates: certificates},
		}},
		credential: principal.Service(editor),
	}
}

// as returns the caller with another credential.
func (c caller) as(credential principal.Credential) caller {
	c.credential = credential
	return c
}

// with returns the caller with one more header.
func (c caller) with(name, value string) caller {
	headers := map[string]string{name: value}
	for known, other := range c.headers {
		headers[known] = other
	}
	c.headers = headers
	return c
}

func anonymous(context.Context, *http.Request) error { return nil }

var editor = principal.Principal{
	OrganizationID: world.Acme, OrganizationIDs: []ids.OrganizationID{world.Acme},
	ProjectID: world.Alpha, Type: principal.TypeUser, Actor: "alpha-editor",
}

// compute calls region as compute does, without impersonation.
func (h *harness) compute() caller { return newCaller(h.region, pki.compute) }

// person calls region as compute does in the name of alpha-editor.
func (h *harness) person() caller { return h.compute().as(principal.Impersonate(editor)) }

// charger calls identity as compute does.
func (h *harness) charger() caller { return newCaller(h.identity, pki.compute) }

// answer is what a service said.
type answer struct {
	status int
	header http.Header
	body   string
}

// try makes a call that may fail to bring an answer.
func (c caller) try(method, path string, body any) (answer, error) {
	var content io.Reader
	switch body := body.(type) {
	case nil:
	case string:
		content = strings.NewReader(body)
	default:
		raw, err := json.Marshal(body)
		Expect(err).NotTo(HaveOccurred())
		content = bytes.NewReader(raw)
	}
	ctx := context.Background()
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, content)
	Expect(err).NotTo(HaveOccurred())
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.credential != nil {
		Expect(c.credential(ctx, request)).To(Succeed())
	}
	for name, value := range c.headers {
		request.Header.Set(name, value)
	}
	response, err := c.client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer func() { Expect(response.Body.Close()).To(Succeed()) }()
	raw, err := io.ReadAll(response.Body)
	return answer{status: response.StatusCode, header: response.Header, body: string(raw)}, err
}

func (c caller) call(method, path string, body any) answer {
	GinkgoHelper()
	a, err := c.try(method, path, body)
	Expect(err).NotTo(HaveOccurred(), "%s %s", method, path)
	return a
}

func (c caller) get(path string) answer { GinkgoHelper(); return c.call(http.MethodGet, path, nil) }
func (c caller) post(path string, body any) answer {
	GinkgoHelper()
	return c.call(http.MethodPost, path, body)
}
func (c caller) put(path string, body any) answer {
	GinkgoHelper()
	return c.call(http.MethodPut, path, body)
}
func (c caller) delete(path string) answer {
	GinkgoHelper()
	return c.call(http.MethodDelete, path, nil)
}

// adminCall makes a call of the admin API that must succeed.
func (h *harness) adminCall(method, path string, body any) answer {
	GinkgoHelper()
	a := caller{base: h.admin, client: http.DefaultClient}.call(method, path, body)
	Expect(a.status).To(BeNumerically("<", 300), "%s %s: %s", method, path, a.body)
	return a
}

func (h *harness) set(patch string) {
	GinkgoHelper()
	h.adminCall(http.MethodPut, "/settings", patch)
}

func (h *harness) faults(list string) {
	GinkgoHelper()
	h.adminCall(http.MethodPut, "/faults", list)
}

// decoded reads the body of a success.
func decoded[T any](a answer, status int) T {
	GinkgoHelper()
	Expect(a.status).To(Equal(status), a.body)
	var body T
	Expect(json.Unmarshal([]byte(a.body), &body)).To(Succeed(), a.body)
	return body
}

// field returns a member of a JSON object by its path, nil when it is absent.
func (a answer) field(path string) any {
	GinkgoHelper()
	var value any
	Expect(json.Unmarshal([]byte(a.body), &value)).To(Succeed(), a.body)
	for _, name := range strings.Split(path, ".") {
		object, isObject := value.(map[string]any)
		if !isObject {
			return nil
		}
		value = object[name]
	}
	return value
}

// refused checks an error and its body.
func refused(a answer, status int, code string) {
	GinkgoHelper()
	Expect(a.status).To(Equal(status), a.body)
	Expect(a.field("error")).To(Equal(code))
	Expect(a.field("error_description")).NotTo(BeEmpty())
	Expect(a.field("trace_id")).To(MatchRegexp("^[0-9a-f]{32}$"))
}
