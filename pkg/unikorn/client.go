// SPDX-License-Identifier: Apache-2.0

package unikorn

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	"k8s.io/client-go/rest"
)

const (
	// callTimeout bounds a call as a whole. The services give up on a request
	// after 30 seconds themselves.
	callTimeout = 30 * time.Second

	// maxBody bounds what is read of an answer, in bytes.
	maxBody = 64 << 20

	impersonateHeader = "X-Impersonate"
	impersonateValue  = "true"
)

// Config says where a service is and how to talk to it.
type Config struct {
	// Host is the base URL of the service, https://host[:port].
	Host string
	// TLS authenticates this service and its peer.
	TLS *TLSFiles
	// TracerProvider makes spans of calls. Nil makes none; the trace context of
	// a call is passed on either way.
	TracerProvider trace.TracerProvider
	// Timeout bounds a call as a whole. Zero is 30 seconds.
	Timeout time.Duration
}

// Client calls one service. It never follows redirects and never repeats a call.
type Client struct {
	service Service
	host    string
	timeout time.Duration
	http    *http.Client
	agent   string
	advisor advisor
}

// NewClient fails when the configuration cannot work.
func NewClient(service Service, config Config) (*Client, error) {
	host, err := url.Parse(config.Host)
	if err != nil {
		return nil, fmt.Errorf("host of the %s service: %w", service, err)
	}
	if host.Scheme != "https" || host.Host == "" {
		return nil, fmt.Errorf("host of the %s service: %q is not of the form https://host[:port]", service, config.Host)
	}
	if config.TLS == nil {
		return nil, errors.New("a client of the platform needs TLS files")
	}
	files, err := newTransport(config.TLS)
	if err != nil {
		return nil, err
	}
	registerMetrics()
	timeout := config.Timeout
	if timeout == 0 {
		timeout = callTimeout
	}
	return &Client{
		service: service,
		host:    config.Host,
		timeout: timeout,
		agent:   rest.DefaultKubernetesUserAgent(),
		http: &http.Client{
			Transport:     traced(files, config.TracerProvider),
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// Host is the base URL of the service.
func (c *Client) Host() string {
	return c.host
}

// Do sends one request, for generated clients.
func (c *Client) Do(req *http.Request) (*http.Response, error) {
	req.Header.Set("User-Agent", c.agent)
	req.Header.Set("Accept", "application/json")
	return c.http.Do(req) //nolint:gosec // the host is the operator's, and no redirect leads away from it
}

// traced passes on the trace context of a call: W3C headers only, and no
// baggage, which would carry a client's own words into the platform.
func traced(inner http.RoundTripper, provider trace.TracerProvider) http.RoundTripper {
	if provider == nil {
		provider = noop.NewTracerProvider()
	}
	return otelhttp.NewTransport(inner,
		otelhttp.WithTracerProvider(provider),
		otelhttp.WithPropagators(propagation.TraceContext{}))
}
