// SPDX-License-Identifier: Apache-2.0

package unikorn_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/trace"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn/unikorntest"
)

const patience = time.Minute

var getThing = unikorn.Endpoint{Name: "GetThing"}

// dyingServer answers the first request of every connection and closes the
// connection on receipt of the second. It counts requests.
func dyingServer(t *testing.T, pki *unikorntest.PKI) (*httptest.Server, *atomic.Int32) {
	received := &atomic.Int32{}
	type served struct{}
	handler := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		received.Add(1)
		if req.Context().Value(served{}).(*atomic.Int32).Add(1) > 1 {
			hijacked("")(w, req)
			return
		}
		plain(200, `{"name":"a"}`)(w, req)
	})
	server := pki.Start(t, handler, func(server *httptest.Server) {
		server.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
			return context.WithValue(ctx, served{}, &atomic.Int32{})
		}
	})
	return server, received
}

func TestWhatHasAnEffectIsAloneOnItsConnection(t *testing.T) {
	tests := map[string]struct {
		method   string
		once     bool
		body     bool
		received int32
	}{
		"a read is not, but repeated":   {method: http.MethodGet, received: 3},
		"a read with an effect is":      {method: http.MethodGet, once: true, received: 2},
		"a POST is":                     {method: http.MethodPost, body: true, received: 2},
		"a POST without a body is":      {method: http.MethodPost, received: 2},
		"a PUT is":                      {method: http.MethodPut, body: true, received: 2},
		"a DELETE without a body is so": {method: http.MethodDelete, received: 2},
	}
	pki := unikorntest.NewPKI(t, "unikorn-compute")
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			server, received := dyingServer(t, pki)
			client := newClient(t, pki, server, 0)
			for range 2 {
				if err := unikorn.Do(t.Context(), client, getThing, send(client, test.method, shaped(test.body, test.once))); err != nil {
					t.Error(err)
				}
			}
			if got := received.Load(); got != test.received {
				t.Errorf("%d requests received, want %d", got, test.received)
			}
		})
	}
}

func TestNothingWithAnEffectIsRepeated(t *testing.T) {
	pki := unikorntest.NewPKI(t, "unikorn-compute")
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
		for _, body := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, with a body: %t", method, body), func(t *testing.T) {
				received := &atomic.Int32{}
				client := newClient(t, pki, pki.Start(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
					received.Add(1)
					hijacked("")(w, req)
				})), 0)
				err := unikorn.Do(t.Context(), client, getThing, send(client, method, shaped(body, method == http.MethodGet)))
				if !unikorn.OutcomeUnknown(err) {
					t.Errorf("outcome is known: %v", err)
				}
				if got := received.Load(); got != 1 {
					t.Errorf("%d requests received", got)
				}
			})
		}
	}
}

// shaped lets a request be with or without a body, and be sent once.
func shaped(body, once bool) func(*http.Request) {
	return func(req *http.Request) {
		if !body {
			req.Body, req.GetBody, req.ContentLength = nil, nil, 0
		}
		if once {
			_ = unikorn.Once(req.Context(), req)
		}
	}
}

func TestIdleConnectionsAreClosedByTheClient(t *testing.T) {
	pki := unikorntest.NewPKI(t, "unikorn-compute")
	closed := make(chan struct{}, 1)
	server := pki.Start(t, plain(200, `{"name":"a"}`), func(server *httptest.Server) {
		server.Config.IdleTimeout = time.Hour
		server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
			if state == http.StateClosed {
				closed <- struct{}{}
			}
		}
	})
	client := newClient(t, pki, server, 0)
	if err := unikorn.Do(t.Context(), client, getThing, send(client, http.MethodGet)); err != nil {
		t.Fatal(err)
	}
	select {
	case <-closed:
	case <-time.After(patience):
		t.Error("the connection is still open")
	}
}

// caller answers with the common name of the client's certificate.
func caller(w http.ResponseWriter, req *http.Request) {
	plain(200, `{"name":"`+req.TLS.PeerCertificates[0].Subject.CommonName+`"}`)(w, req)
}

func eventually(t *testing.T, condition func(ctx context.Context) (bool, error)) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true, condition); err != nil {
		t.Error(err)
	}
}

func TestClientCertificateIsReloaded(t *testing.T) {
	pki := unikorntest.NewPKI(t, "before")
	server := pki.Start(t, http.HandlerFunc(caller))
	files := pki.Files(t)
	go files.Run(t.Context())
	client, err := unikorn.NewClient(unikorn.RegionService, unikorn.Config{Host: server.URL, TLS: files})
	if err != nil {
		t.Fatal(err)
	}
	name := func(ctx context.Context) string {
		got, err := unikorn.Call[thing](ctx, client, getThing, send(client, http.MethodGet))
		if err != nil {
			t.Fatal(err)
		}
		return got.Name
	}
	if got := name(t.Context()); got != "before" {
		t.Fatalf("called as %s", got)
	}
	pki.WriteClient(t, "after")
	eventually(t, func(ctx context.Context) (bool, error) { return name(ctx) == "after", nil })
}

func TestAuthoritiesAreReloaded(t *testing.T) {
	pki, other := unikorntest.NewPKI(t, "unikorn-compute"), unikorntest.NewPKI(t, "unikorn-compute")
	server := other.Start(t, plain(200, `{"name":"a"}`), func(server *httptest.Server) {
		server.TLS.ClientAuth = tls.NoClientCert
	})
	files := pki.Files(t)
	go files.Run(t.Context())
	client, err := unikorn.NewClient(unikorn.RegionService, unikorn.Config{Host: server.URL, TLS: files})
	if err != nil {
		t.Fatal(err)
	}
	err = unikorn.Do(t.Context(), client, getThing, send(client, http.MethodPost))
	check(t, err, failure{unikorn.Unavailable, false, 503, metav1.StatusReasonServiceUnavailable})

	pki.WriteCA(t, other)
	eventually(t, func(ctx context.Context) (bool, error) {
		return unikorn.Do(ctx, client, getThing, send(client, http.MethodPost)) == nil, nil
	})
}

func TestPeerThatRefusesOurCertificate(t *testing.T) {
	pki, other := unikorntest.NewPKI(t, "unikorn-compute"), unikorntest.NewPKI(t, "unikorn-compute")
	server := other.Start(t, plain(200, `{"name":"a"}`))
	pki.WriteCA(t, other)
	client := newClient(t, pki, server, 0)
	err := unikorn.Do(t.Context(), client, getThing, send(client, http.MethodPost))
	check(t, err, serviceRefused)
}

// Whether the client hears of the refusal as it reads or as it writes is chance.
// Enough to write makes the latter likely.
func TestPeerThatRefusesOurCertificateWhileWeWrite(t *testing.T) {
	pki, other := unikorntest.NewPKI(t, "unikorn-compute"), unikorntest.NewPKI(t, "unikorn-compute")
	server := other.Start(t, plain(200, `{"name":"a"}`))
	pki.WriteCA(t, other)
	client := newClient(t, pki, server, 0)
	long := strings.Repeat(" ", 8<<20)
	for range 20 {
		err := unikorn.Do(t.Context(), client, getThing, send(client, http.MethodPost, func(req *http.Request) {
			req.Body, req.ContentLength = io.NopCloser(strings.NewReader(long)), int64(len(long))
		}))
		check(t, err, serviceRefused)
	}
}

func TestOldTLSIsNotSpoken(t *testing.T) {
	pki := unikorntest.NewPKI(t, "unikorn-compute")
	server := pki.Start(t, plain(200, `{"name":"a"}`), func(server *httptest.Server) {
		server.TLS.MaxVersion = tls.VersionTLS12
	})
	client := newClient(t, pki, server, 0)
	if err := unikorn.Do(t.Context(), client, getThing, send(client, http.MethodGet)); err == nil {
		t.Error("spoke TLS 1.2")
	}
}

func TestHostMustBeSecure(t *testing.T) {
	pki := unikorntest.NewPKI(t, "unikorn-compute")
	for _, host := range []string{"", "region.example", "http://region.example", "https://", "://"} {
		if _, err := unikorn.NewClient(unikorn.RegionService, unikorn.Config{Host: host, TLS: pki.Files(t)}); err == nil {
			t.Errorf("host %q was accepted", host)
		}
	}
}

func TestTraceContextIsPassedOn(t *testing.T) {
	pki := unikorntest.NewPKI(t, "unikorn-compute")
	headers := make(chan http.Header, 1)
	server := pki.Start(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		headers <- req.Header
		plain(200, `{"name":"a"}`)(w, req)
	}))
	client := newClient(t, pki, server, 0)
	span := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, Remote: true})
	member, err := baggage.NewMember("secret", "hunter2")
	if err != nil {
		t.Fatal(err)
	}
	luggage, err := baggage.New(member)
	if err != nil {
		t.Fatal(err)
	}
	ctx := baggage.ContextWithBaggage(trace.ContextWithSpanContext(t.Context(), span), luggage)
	if err := unikorn.Do(ctx, client, getThing, send(client, http.MethodGet)); err != nil {
		t.Fatal(err)
	}
	got := <-headers
	if want := "00-01000000000000000000000000000000-0200000000000000-00"; got.Get("Traceparent") != want {
		t.Errorf("traceparent %q, want %q", got.Get("Traceparent"), want)
	}
	for _, header := range []string{"Baggage", "Authorization", "Unikorn-Client-Certificate"} {
		if value := got.Get(header); value != "" {
			t.Errorf("%s: %s was sent", header, value)
		}
	}
}

func TestCallsAreCounted(t *testing.T) {
	pki := unikorntest.NewPKI(t, "unikorn-compute")
	counted := unikorn.Endpoint{Name: "CountedThing"}
	for _, handler := range []http.HandlerFunc{plain(200, "{}"), refusal(404, "not_found"), hijacked("")} {
		client := newClient(t, pki, pki.Start(t, handler), 0)
		_ = unikorn.Do(t.Context(), client, counted, send(client, http.MethodPost))
	}
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]uint64{}
	for _, family := range families {
		if family.GetName() != "unikorn_client_request_duration_seconds" {
			continue
		}
		for _, metric := range family.GetMetric() {
			labels := map[string]string{}
			for _, label := range metric.GetLabel() {
				labels[label.GetName()] = label.GetValue()
			}
			if labels["service"] == "region" && labels["operation"] == counted.Name {
				got[labels["status"]] += metric.GetHistogram().GetSampleCount()
			}
		}
	}
	for _, status := range []string{"200", "404", "dropped"} {
		if got[status] != 1 {
			t.Errorf("status %s was counted %d times: %v", status, got[status], got)
		}
	}
}
