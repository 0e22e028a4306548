// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"
)

// idleListener closes connections on which nothing happens between requests,
// without a word, as the services do. net/http cannot change its own time-out
// while it runs, nor does it let HTTP/2 pings keep a connection alive.
type idleListener struct {
	net.Listener
	timeout func() time.Duration
}

// Accept returns the next connection.
func (l idleListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &idleConn{Conn: conn, timeout: l.timeout}, nil
}

type idleConn struct {
	net.Conn
	timeout func() time.Duration

	mu    sync.Mutex
	timer *time.Timer
}

// Read puts the end of an idle connection off.
func (c *idleConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	if n > 0 && c.timer != nil {
		c.timer.Reset(c.timeout())
	}
	return n, err
}

func (c *idleConn) idle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop()
	if timeout := c.timeout(); timeout > 0 {
		// The peer learns nothing but that the connection is gone.
		c.timer = time.AfterFunc(timeout, func() { _ = c.Close() })
	}
}

func (c *idleConn) busy() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop()
}

func (c *idleConn) stop() {
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
}

// watchIdle follows the state of connections of an idleListener under TLS.
func watchIdle(conn net.Conn, state http.ConnState) {
	encrypted, isTLS := conn.(*tls.Conn)
	if !isTLS {
		return
	}
	watched, isWatched := encrypted.NetConn().(*idleConn)
	switch {
	case !isWatched:
	case state == http.StateIdle:
		watched.idle()
	default:
		watched.busy()
	}
}
