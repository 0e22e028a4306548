// SPDX-License-Identifier: Apache-2.0

package unikorn

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// idleTimeout is how long an unused connection is kept. The services close
	// theirs after one second without a word; a request written into one that
	// is being closed is lost without an answer (docs/reference/wire.md,
	// "Connections"), so ours must go well before.
	idleTimeout = 500 * time.Millisecond

	connectTimeout  = 5 * time.Second
	maxIdlePerPeer  = 100
	keepAlivePeriod = 15 * time.Second
)

var _ http.RoundTripper = &transport{}

// transport is two of http that are replaced when the TLS files change.
// Replacing them, rather than only the TLS configuration, keeps connections made
// with the old certificate from being used again: a signature made with the new
// key would not match the certificate they were opened with.
type transport struct {
	files *TLSFiles

	mu      sync.Mutex
	content material
	// shared keeps connections for more requests.
	shared *http.Transport
	// alone opens a connection for each request.
	alone *http.Transport
}

func newTransport(files *TLSFiles) (*transport, error) {
	t := &transport{files: files}
	if err := t.refresh(); err != nil {
		return nil, err
	}
	return t, nil
}

// RoundTrip sends what has an effect over a connection of its own. One that was
// used before may be closed by the service at the moment the request is written
// into it, and whether the request had its effect would be unknown.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	t.mu.Lock()
	err := t.refresh()
	shared, alone := t.shared, t.alone
	t.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if req.Method == http.MethodGet && !req.Close {
		return plainly(shared, req)
	}
	return plainly(alone, req)
}

// plainly keeps what the peer sent out of the words of errors, which end up in
// logs and traces.
func plainly(inner *http.Transport, req *http.Request) (*http.Response, error) {
	response, err := inner.RoundTrip(req)
	if err != nil {
		return nil, plainCause(err)
	}
	response.Body = plainBody{response.Body}
	return response, nil
}

// refresh is called with the mutex held, or before anybody else knows of t.
func (t *transport) refresh() error {
	content := t.files.current()
	if t.shared != nil && content.equal(t.content) {
		return nil
	}
	config, err := content.config()
	if err != nil {
		return fmt.Errorf("%w: %w", errFiles, err)
	}
	if t.shared != nil {
		t.shared.CloseIdleConnections()
	}
	t.content = content
	t.shared = httpTransport(config)
	t.alone = httpTransport(config)
	t.alone.DisableKeepAlives = true
	return nil
}

func httpTransport(config *tls.Config) *http.Transport {
	return &http.Transport{
		Proxy:          http.ProxyFromEnvironment,
		DialContext:    (&net.Dialer{Timeout: connectTimeout, KeepAlive: keepAlivePeriod}).DialContext,
		DialTLSContext: dialTLS(config),
		// The two below are for connections through a proxy.
		TLSHandshakeTimeout: connectTimeout,
		TLSClientConfig:     config,
		IdleConnTimeout:     idleTimeout,
		MaxIdleConnsPerHost: maxIdlePerPeer,
	}
}

// Once is a request editor for a GET with an effect. Go's transport would repeat
// it by itself when a connection it used before dies under it, because it takes
// every GET for harmless.
func Once(_ context.Context, req *http.Request) error {
	req.Close = true
	return nil
}
