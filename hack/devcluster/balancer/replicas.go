// SPDX-License-Identifier: Apache-2.0

package balancer

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
)

var _ http.RoundTripper = &replicas{}

// replicas sends each request to the next replica.
type replicas struct {
	addresses []string
	turn      atomic.Uint64
	// requests speaks HTTP/2; upgrades, which HTTP/2 does not know, do not.
	requests, upgrades http.RoundTripper
}

func newReplicas(config Config) *replicas {
	var http1, http2 http.Protocols
	http1.SetHTTP1(true)
	http2.SetHTTP1(true)
	http2.SetHTTP2(true)
	return &replicas{
		addresses: config.Replicas,
		requests:  transport(config, http2),
		upgrades:  transport(config, http1),
	}
}

func transport(config Config, protocols http.Protocols) http.RoundTripper {
	return &http.Transport{
		TLSClientConfig: &tls.Config{
			MinVersion:   tls.VersionTLS12,
			RootCAs:      config.ServerCAs,
			ServerName:   config.ServerName,
			Certificates: []tls.Certificate{config.FrontProxy},
		},
		Protocols: &protocols,
		// What the client did not ask for, it may not understand.
		DisableCompression: true,
	}
}

// RoundTrip implements http.RoundTripper. A replica that does not accept
// connections is passed over; a request that may have been sent is never
// repeated.
func (r *replicas) RoundTrip(request *http.Request) (*http.Response, error) {
	first := r.turn.Add(1)
	var failures []error
	for i := range uint64(len(r.addresses)) {
		address := r.addresses[(first+i)%uint64(len(r.addresses))]
		response, err := r.send(request, address)
		if err == nil || !neverSent(err) {
			return response, err
		}
		failures = append(failures, err)
	}
	return nil, errors.Join(failures...)
}

func (r *replicas) send(request *http.Request, address string) (*http.Response, error) {
	out := request.Clone(request.Context())
	out.URL.Host = address
	if request.Body != nil {
		// A failed attempt closes its body; the next one needs it open. The
		// server that received the request closes it in the end.
		out.Body = io.NopCloser(request.Body)
	}
	if request.Header.Get("Upgrade") != "" {
		return r.upgrades.RoundTrip(out)
	}
	return r.requests.RoundTrip(out)
}

// neverSent tells that no connection came about, so that nothing was sent.
func neverSent(err error) bool {
	var dial *net.OpError
	return errors.As(err, &dial) && dial.Op == "dial"
}
