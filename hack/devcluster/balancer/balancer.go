// SPDX-License-Identifier: Apache-2.0

// Package balancer stands before the replicas of an aggregated API server and
// gives each request to the next one. A Service balances connections, and
// kube-apiserver keeps one connection for all requests: only request by
// request do replicas that should agree get the chance to disagree.
package balancer

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"time"
)

// headerTimeout bounds how long a client may take to send the headers of a
// request.
const headerTimeout = 30 * time.Second

// Config says between whom the balancer stands.
type Config struct {
	// Replicas are the host:port addresses of the servers.
	Replicas []string
	// Serving is the certificate of the Service.
	Serving tls.Certificate
	// FrontProxyCAs sign the front proxy's client certificate, whose common
	// name is FrontProxyName: kube-apiserver presents it with the headers that
	// say who the user is. Nobody else may send such headers, so nobody else
	// gets in.
	FrontProxyCAs  *x509.CertPool
	FrontProxyName string
	// ServerCAs sign the certificate that the replicas serve for ServerName.
	ServerCAs  *x509.CertPool
	ServerName string
	// FrontProxy is what the balancer itself presents to the replicas, as the
	// front proxy it speaks for.
	FrontProxy tls.Certificate
	// ErrorLog receives failed requests.
	ErrorLog *log.Logger
}

// Balancer is an HTTPS server.
type Balancer struct {
	server http.Server
}

// New makes a balancer. It needs at least one replica.
func New(config Config) (*Balancer, error) {
	if len(config.Replicas) == 0 {
		return nil, errors.New("no replica to balance between")
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:      forward,
		Transport:    newReplicas(config),
		ErrorLog:     config.ErrorLog,
		ErrorHandler: refuse(config.ErrorLog),
	}
	return &Balancer{server: http.Server{
		Handler:           proxy,
		ReadHeaderTimeout: headerTimeout,
		ErrorLog:          config.ErrorLog,
		TLSConfig: &tls.Config{
			MinVersion:       tls.VersionTLS12,
			Certificates:     []tls.Certificate{config.Serving},
			ClientAuth:       tls.RequireAndVerifyClientCert,
			ClientCAs:        config.FrontProxyCAs,
			VerifyConnection: only(config.FrontProxyName),
		},
	}}, nil
}

// Serve answers on listener until Close, and returns nil then.
func (b *Balancer) Serve(listener net.Listener) error {
	if err := b.server.ServeTLS(listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Close ends all connections, watches included.
func (b *Balancer) Close() error {
	return b.server.Close()
}

func only(name string) func(tls.ConnectionState) error {
	return func(state tls.ConnectionState) error {
		if got := state.PeerCertificates[0].Subject.CommonName; got != name {
			return fmt.Errorf("client %q is not the front proxy %q", got, name)
		}
		return nil
	}
}

// forward hands on a request as it came: the sender is the cluster's own front
// proxy, so what it says about the client is kept, and what a query means is
// for the replicas to say.
func forward(r *httputil.ProxyRequest) {
	r.Out.URL.Scheme = "https"
	r.Out.URL.RawQuery = r.In.URL.RawQuery
	for _, header := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if values, ok := r.In.Header[header]; ok {
			r.Out.Header[header] = values
		}
	}
}

func refuse(errorLog *log.Logger) func(http.ResponseWriter, *http.Request, error) {
	return func(w http.ResponseWriter, r *http.Request, err error) {
		errorLog.Printf("%s %s: %v", r.Method, r.URL.Path, err)
		status := http.StatusBadGateway
		if neverSent(err) {
			status = http.StatusServiceUnavailable
		}
		http.Error(w, err.Error(), status)
	}
}
