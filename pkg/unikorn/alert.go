// SPDX-License-Identifier: Apache-2.0

package unikorn

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"time"
)

// alertPatience is how long a failed write waits for the word of the peer,
// which is already on its way or will not come.
const alertPatience = time.Second

var _ net.Conn = &alertConn{}

// alertConn is a TLS connection whose writes fail with the peer's alert where
// there is one. In TLS 1.3 (RFC 8446, 4.4.2.4) a server refuses the client's
// certificate after the client has begun to send: the one who reads gets the
// alert and closes, the one who writes finds a closed connection, and which of
// them is heard first is chance.
type alertConn struct {
	*tls.Conn

	ended sync.Once
	done  chan struct{}
	// err is what ended reading. It is read after done is closed.
	err error
}

// dialTLS connects to the address and shakes hands, both within connectTimeout.
func dialTLS(config *tls.Config) func(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := &tls.Dialer{
		NetDialer: &net.Dialer{Timeout: connectTimeout, KeepAlive: keepAlivePeriod},
		Config:    config,
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &alertConn{Conn: conn.(*tls.Conn), done: make(chan struct{})}, nil
	}
}

func (c *alertConn) Read(into []byte) (int, error) {
	n, err := c.Conn.Read(into)
	if err != nil {
		c.ended.Do(func() {
			c.err = err
			close(c.done)
		})
	}
	return n, err
}

// Write relies on somebody reading meanwhile, as an http.Transport does.
func (c *alertConn) Write(from []byte) (int, error) {
	n, err := c.Conn.Write(from)
	if err == nil {
		return n, nil
	}
	patience := time.NewTimer(alertPatience)
	defer patience.Stop()
	select {
	case <-c.done:
		if refusedHandshake(c.err) {
			return n, c.err
		}
	case <-patience.C:
	}
	return n, err
}
