// SPDX-License-Identifier: Apache-2.0

package unikorn_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn/unikorntest"
)

// Only an alert about the handshake says that nothing was done.
func TestPeerThatAlertsUsInMidRequest(t *testing.T) {
	pki := unikorntest.NewPKI(t, "unikorn-compute")
	server := pki.Start(t, plain(200, `{"name":"a"}`))
	server.URL = "https://" + spoiling(t, server)
	client := newClient(t, pki, server, 0)
	err := unikorn.Do(t.Context(), client, getThing, send(client, http.MethodPost))
	check(t, err, unavailable)
	if want := "remote error: tls: bad record MAC"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want it to end in %q", err, want)
	}
}

// spoiling is the address of something in between that breaks all that clients
// send encrypted, which the server then alerts them of.
func spoiling(t *testing.T, server *httptest.Server) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	t.Cleanup(func() {
		_ = listener.Close()
		running.Wait()
	})
	running.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { between(t.Context(), client, server.Listener.Addr().String()) })
		}
	})
	return listener.Addr().String()
}

func between(ctx context.Context, client net.Conn, address string) {
	defer func() { _ = client.Close() }()
	server, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	var back sync.WaitGroup
	back.Go(func() { _, _ = io.Copy(client, server) })
	spoil(server, client)
	back.Wait()
}

// spoil passes on records (RFC 8446, 5.1), those with encrypted content broken.
func spoil(to io.Writer, from io.Reader) {
	const headerLength, encrypted = 5, 23
	for {
		header := make([]byte, headerLength)
		if _, err := io.ReadFull(from, header); err != nil {
			return
		}
		content := make([]byte, binary.BigEndian.Uint16(header[3:]))
		if _, err := io.ReadFull(from, content); err != nil {
			return
		}
		if header[0] == encrypted {
			content[0] ^= 1
		}
		if _, err := to.Write(slices.Concat(header, content)); err != nil {
			return
		}
	}
}
