// SPDX-License-Identifier: Apache-2.0

package balancer

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/pki"
)

const service = "instance-apiserver.unikorn-compute.svc"

// fixture is a balancer before replicas that answer with their own number.
type fixture struct {
	authority, frontProxy *pki.Authority
	url                   string
	replicas              []*httptest.Server
}

func newFixture(t *testing.T, replicas int, handler func(replica int) http.Handler) *fixture {
	t.Helper()
	f := &fixture{authority: must(pki.NewAuthority("servers"))(t), frontProxy: must(pki.NewAuthority("front-proxy"))(t)}
	pair := f.pair(t)(f.authority.Server(service))
	var addresses []string
	for i := range replicas {
		server := httptest.NewUnstartedServer(handler(i))
		server.EnableHTTP2 = true
		server.TLS = &tls.Config{
			Certificates: []tls.Certificate{pair},
			ClientAuth:   tls.RequireAndVerifyClientCert,
			ClientCAs:    f.frontProxy.Pool(),
		}
		server.StartTLS()
		t.Cleanup(server.Close)
		f.replicas = append(f.replicas, server)
		addresses = append(addresses, server.Listener.Addr().String())
	}
	balancer, err := New(Config{
		Replicas:       addresses,
		Serving:        pair,
		FrontProxyCAs:  f.frontProxy.Pool(),
		FrontProxyName: "front-proxy",
		ServerCAs:      f.authority.Pool(),
		ServerName:     service,
		FrontProxy:     f.pair(t)(f.frontProxy.Client("front-proxy")),
		ErrorLog:       log.New(t.Output(), "", 0),
	})
	if err != nil {
		t.Fatal(err)
	}
	listener := must(net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}))(t)
	served := make(chan error, 1)
	go func() { served <- balancer.Serve(listener) }()
	t.Cleanup(func() {
		if err := balancer.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	f.url = "https://" + listener.Addr().String()
	return f
}

func must[T any](value T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func (*fixture) pair(t *testing.T) func(pki.Pair, error) tls.Certificate {
	return func(pair pki.Pair, err error) tls.Certificate {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return must(pair.TLS())(t)
	}
}

func (f *fixture) client(t *testing.T, certificates ...tls.Certificate) *http.Client {
	transport := &http.Transport{
		ForceAttemptHTTP2: true,
		TLSClientConfig:   &tls.Config{RootCAs: f.authority.Pool(), ServerName: service, Certificates: certificates},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// aggregator is a client with the certificate of the front proxy.
func (f *fixture) aggregator(t *testing.T) *http.Client {
	return f.client(t, f.pair(t)(f.frontProxy.Client("front-proxy")))
}

func number(replica int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, replica) })
}

func get(t *testing.T, url string) *http.Request {
	t.Helper()
	return must(http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody))(t)
}

func post(t *testing.T, url string) *http.Request {
	t.Helper()
	return must(http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("x")))(t)
}

func read(t *testing.T, response *http.Response, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return string(must(io.ReadAll(response.Body))(t))
}

func TestRequestsAlternate(t *testing.T) {
	f := newFixture(t, 2, number)
	client := f.aggregator(t)
	var got string
	for range 6 {
		response, err := client.Do(get(t, f.url))
		got += read(t, response, err)
	}
	if got != "101010" && got != "010101" {
		t.Errorf("replicas answered in the order %s", got)
	}
}

func TestReplicaThatRefusesConnectionsIsPassedOver(t *testing.T) {
	f := newFixture(t, 2, func(replica int) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, replica, string(must(io.ReadAll(r.Body))(t)))
		})
	})
	f.replicas[0].Close()
	client := f.aggregator(t)
	for range 4 {
		response, err := client.Do(post(t, f.url))
		if got := read(t, response, err); got != "1x" {
			t.Errorf("answer %q", got)
		}
	}
	f.replicas[1].Close()
	response, err := client.Do(get(t, f.url))
	read(t, response, err)
	if response.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("without replicas: %s", response.Status)
	}
}

func TestRequestThatWasSentIsNotRepeated(t *testing.T) {
	seen := make(chan int, 10)
	f := newFixture(t, 2, func(replica int) http.Handler {
		return http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			seen <- replica
			panic(http.ErrAbortHandler)
		})
	})
	response, err := f.aggregator(t).Do(post(t, f.url))
	read(t, response, err)
	if response.StatusCode != http.StatusBadGateway {
		t.Errorf("status %s", response.Status)
	}
	if len(seen) != 1 {
		t.Errorf("the request arrived %d times", len(seen))
	}
}

func TestOnlyTheFrontProxyGetsIn(t *testing.T) {
	f := newFixture(t, 1, number)
	foreign := must(pki.NewAuthority("foreign"))(t)
	for name, certificates := range map[string][]tls.Certificate{
		"no certificate":    nil,
		"another name":      {f.pair(t)(f.frontProxy.Client("alice"))},
		"another authority": {f.pair(t)(foreign.Client("front-proxy"))},
	} {
		response, err := f.client(t, certificates...).Do(get(t, f.url))
		if err == nil {
			t.Errorf("%s: %s", name, read(t, response, err))
		}
	}
}

func TestHeadersOfTheFrontProxyArriveUnchanged(t *testing.T) {
	f := newFixture(t, 1, func(int) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, r.Header["X-Remote-User"], r.Header["X-Forwarded-For"], r.Header["Accept-Encoding"], r.URL)
		})
	})
	request := get(t, f.url+"/apis?x=1&x=2;")
	request.Header.Set("X-Remote-User", "alice")
	request.Header.Set("X-Forwarded-For", "192.0.2.1")
	request.Header.Set("Accept-Encoding", "identity")
	response, err := f.aggregator(t).Do(request)
	if got := read(t, response, err); got != "[alice] [192.0.2.1] [identity] /apis?x=1&x=2;" {
		t.Errorf("arrived: %s", got)
	}
}

func TestWatchIsNotHeldBack(t *testing.T) {
	next := make(chan struct{})
	f := newFixture(t, 1, func(int) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintln(w, "first")
			w.(http.Flusher).Flush()
			<-next
			fmt.Fprintln(w, "second")
		})
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	response, err := f.aggregator(t).Do(get(t, f.url).WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	lines := bufio.NewReader(response.Body)
	if line := must(lines.ReadString('\n'))(t); line != "first\n" {
		t.Errorf("line %q", line)
	}
	close(next)
	if line := must(lines.ReadString('\n'))(t); line != "second\n" {
		t.Errorf("line %q", line)
	}
}

func shut(t *testing.T, connection net.Conn) {
	t.Helper()
	if err := connection.Close(); err != nil {
		t.Error(err)
	}
}

func flush(t *testing.T, buffered *bufio.ReadWriter) {
	t.Helper()
	if err := buffered.Flush(); err != nil {
		t.Error(err)
	}
}

func TestUpgradePassesThrough(t *testing.T) {
	f := newFixture(t, 1, func(int) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			connection, buffered, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer shut(t, connection)
			fmt.Fprintf(buffered, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", r.Header.Get("Upgrade"))
			flush(t, buffered)
			line, _ := buffered.ReadString('\n')
			fmt.Fprint(buffered, "echo ", line)
			flush(t, buffered)
		})
	})
	dialer := &tls.Dialer{Config: &tls.Config{
		RootCAs: f.authority.Pool(), ServerName: service,
		Certificates: []tls.Certificate{f.pair(t)(f.frontProxy.Client("front-proxy"))},
	}}
	connection := must(dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(f.url, "https://")))(t)
	defer shut(t, connection)
	fmt.Fprintf(connection, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n")
	reader := bufio.NewReader(connection)
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatal(response.Status)
	}
	fmt.Fprintln(connection, "hello")
	if line := must(reader.ReadString('\n'))(t); line != "echo hello\n" {
		t.Errorf("line %q", line)
	}
}

func TestNewNeedsAReplica(t *testing.T) {
	if _, err := New(Config{ServerCAs: x509.NewCertPool()}); err == nil {
		t.Error("no error")
	}
}
