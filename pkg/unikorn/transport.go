// SPDX-License-Identifier: Apache-2.0

package unikorn

import (
	"context"
	"net"
	"net/http"
	"strings"
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

// transport is an http.Transport that is replaced when the TLS files change.
// Replacing it, rather than only the TLS configuration, keeps connections made
// with the old certificate from being used again: a signature made with the new
// key would not match the certificate they were opened with.
type transport struct {
	files *TLSFiles

	mu      sync.Mutex
	content material
	inner   *http.Transport
}

func newTransport(files *TLSFiles) (*transport, error) {
	t := &transport{files: files}
	if _, err := t.current(); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	inner, err := t.current()
	if err != nil {
		return nil, err
	}
	return inner.RoundTrip(req)
}

func (t *transport) current() (*http.Transport, error) {
	content := t.files.current()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.inner != nil && content.equal(t.content) {
		return t.inner, nil
	}
	config, err := content.config()
	if err != nil {
		return nil, err
	}
	if t.inner != nil {
		t.inner.CloseIdleConnections()
	}
	t.content = content
	t.inner = &http.Transport{
		Proxy:          http.ProxyFromEnvironment,
		DialContext:    (&net.Dialer{Timeout: connectTimeout, KeepAlive: keepAlivePeriod}).DialContext,
		DialTLSContext: dialTLS(config),
		// The two below are for connections through a proxy.
		TLSHandshakeTimeout: connectTimeout,
		TLSClientConfig:     config,
		IdleConnTimeout:     idleTimeout,
		MaxIdleConnsPerHost: maxIdlePerPeer,
	}
	return t.inner, nil
}

// Once is a request editor that keeps a GET with an effect from being repeated.
// Go's transport repeats a GET by itself when a connection it used before dies
// under it, because it takes every GET for harmless; it does not repeat one
// whose body it cannot rewind. Other methods it never repeats once a byte of
// them was written.
func Once(_ context.Context, req *http.Request) error {
	req.Body = onlyOnce{strings.NewReader("")}
	req.GetBody = nil
	return nil
}

type onlyOnce struct{ *strings.Reader }

func (onlyOnce) Close() error { return nil }
