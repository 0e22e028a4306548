// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/settings"
)

const (
	// headerTime bounds how long a peer may take to say what it wants.
	headerTime = 10 * time.Second
	// shutdownTime bounds how long requests may take to end at shutdown.
	shutdownTime = 5 * time.Second
)

// Listeners are where a simulator answers. Region and Identity are put under
// TLS by Serve, Admin is not.
type Listeners struct {
	Region, Identity, Admin net.Listener
}

// Serve answers until the context ends, and closes the listeners. identities
// holds the certificate of the services and the authorities of the clients'
// certificates. A client needs no certificate to connect: what it gets to hear
// without one is up to the services.
func (s *Simulator) Serve(ctx context.Context, listeners Listeners, identities *tls.Config) error {
	encrypted := identities.Clone()
	encrypted.MinVersion = tls.VersionTLS13
	encrypted.ClientAuth = tls.VerifyClientCertIfGiven

	group, ctx := errgroup.WithContext(ctx)
	serveTLS := func(listener net.Listener, handler http.Handler) {
		server := newServer(ctx, handler)
		server.TLSConfig = encrypted.Clone()
		server.ConnState = watchIdle
		watched := idleListener{Listener: listener, timeout: func() time.Duration {
			return settings.Millis(s.settings.Get().IdleMillis)
		}}
		run(ctx, group, server, func() error { return server.ServeTLS(watched, "", "") })
	}
	serveTLS(listeners.Region, s.Region)
	serveTLS(listeners.Identity, s.Identity)
	plain := newServer(ctx, s.Admin)
	run(ctx, group, plain, func() error { return plain.Serve(listeners.Admin) })
	return group.Wait()
}

func newServer(ctx context.Context, handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTime,
		// Requests that wait for a latency end with the simulator.
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
}

func run(ctx context.Context, group *errgroup.Group, server *http.Server, serve func() error) {
	group.Go(func() error {
		if err := serve(); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
		defer cancel()
		if err := server.Shutdown(limited); err != nil {
			return errors.Join(fmt.Errorf("shut down: %w", err), server.Close())
		}
		return nil
	})
}
