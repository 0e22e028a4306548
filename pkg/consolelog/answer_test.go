// SPDX-License-Identifier: Apache-2.0

package consolelog

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/util/flushwriter"
)

// station serves followers as the API server does, and tells of each handler
// that has ended.
type station struct {
	*httptest.Server

	protocol  string
	followers *Followers
	ended     chan struct{}
}

func newStation(t *testing.T, protocol string, patience time.Duration, read Read) *station {
	t.Helper()
	s := &station{protocol: protocol, followers: newFollowers(t, wide), ended: make(chan struct{}, 100)}
	s.Server = httptest.NewUnstartedServer(Bounded(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { s.ended <- struct{}{} }()
		stream, err := s.followers.Follow(r.Context(), Request{Console: "x", Read: read})
		if err != nil {
			http.Error(w, err.Error(), http.StatusTooManyRequests)
			return
		}
		defer func() { _ = stream.Close() }()
		_, _ = io.Copy(flushwriter.Wrap(w), stream)
	}), patience))
	s.Listener = narrow{s.Listener}
	if protocol == "HTTP/2.0" {
		s.EnableHTTP2 = true
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

// request begins an answer over HTTP/1.1 or 2 and returns its body, which is
// read only as far as it comes by itself.
func (s *station) request(t *testing.T) io.ReadCloser {
	t.Helper()
	transport := s.Client().Transport.(*http.Transport)
	if !s.EnableHTTP2 {
		transport.DialContext = dialNarrowly
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	if response.Proto != s.protocol {
		t.Fatalf("%s, want %s", response.Proto, s.protocol)
	}
	return response.Body
}

// narrow has the kernel keep little of what clients do not read.
type narrow struct {
	net.Listener
}

func (n narrow) Accept() (net.Conn, error) {
	accepted, err := n.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return accepted, accepted.(*net.TCPConn).SetWriteBuffer(4096)
}

// dialNarrowly leaves little room for what is not read, which HTTP/2 limits by
// itself.
func dialNarrowly(ctx context.Context, network, address string) (net.Conn, error) {
	made, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return made, made.(*net.TCPConn).SetReadBuffer(4096)
}

var protocols = []string{"HTTP/1.1", "HTTP/2.0"}

// machine writes half of what is kept with each read.
type machine struct {
	kept string
	next int
}

func (m *machine) read(context.Context) (string, error) {
	letter := string(rune('a' + m.next%26))
	m.next++
	m.kept = lastWindow(m.kept + strings.Repeat(letter, window/2))
	return m.kept, nil
}

// pacedMachine writes only when its follower has taken all: one that takes no
// more is stuck, and not behind.
type pacedMachine struct {
	machine

	unread func() int
	// idle counts the reads since something was taken; stuck has an element
	// when they are many.
	idle  int
	stuck chan struct{}
}

func (m *pacedMachine) read(ctx context.Context) (string, error) {
	if m.unread() == 0 {
		m.idle = 0
		return m.machine.read(ctx)
	}
	m.idle++
	if m.idle > 200 {
		select {
		case m.stuck <- struct{}{}:
		default:
		}
	}
	return m.kept, nil
}

// stall serves a client that does not read.
func stall(t *testing.T, protocol string, patience time.Duration) (*station, *pacedMachine) {
	t.Helper()
	m := &pacedMachine{stuck: make(chan struct{}, 1)}
	s := newStation(t, protocol, patience, m.read)
	m.unread = s.unread
	s.request(t)
	return s, m
}

// unread is how much followers have yet to take.
func (s *station) unread() int {
	s.followers.mu.Lock()
	p := s.followers.pollers["x"]
	s.followers.mu.Unlock()
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	unread := 0
	for f := range p.followers {
		f.mu.Lock()
		unread += f.unread
		f.mu.Unlock()
	}
	return unread
}

func TestWhoDoesNotReadIsCutOff(t *testing.T) {
	for _, protocol := range protocols {
		t.Run(protocol, func(t *testing.T) {
			s, _ := stall(t, protocol, time.Second)
			<-s.ended
			if got := len(s.followers.places); got != 0 {
				t.Errorf("%d groups have followers, want none", got)
			}
		})
	}
}

func TestWhoFallsBehindIsCutOff(t *testing.T) {
	for _, protocol := range protocols {
		t.Run(protocol, func(t *testing.T) {
			s := newStation(t, protocol, time.Hour, (&machine{}).read)
			s.request(t)
			<-s.ended
		})
	}
}

func TestWhoDoesNotReadDoesNotHoldUpClose(t *testing.T) {
	for _, protocol := range protocols {
		t.Run(protocol, func(t *testing.T) {
			s, m := stall(t, protocol, time.Hour)
			<-m.stuck
			if len(s.ended) > 0 {
				t.Fatal("ended too soon")
			}
			s.followers.Close()
			<-s.ended
		})
	}
}

// Nothing happens for longer than a write may take.
func TestWhoReadsIsNotCutOff(t *testing.T) {
	const patience = 500 * time.Millisecond
	for _, protocol := range protocols {
		t.Run(protocol, func(t *testing.T) {
			c := newConsole("a\n")
			s := newStation(t, protocol, patience, c.read)
			body := s.request(t)
			lines := reader{body, bufio.NewScanner(body)}
			lines.expect(t, "a")
			<-time.After(2 * patience)
			c.set("a\nb\n", nil)
			lines.expect(t, "b")
			s.followers.Close()
			lines.expectEnd(t)
			if err := lines.Err(); err != nil {
				t.Error(err)
			}
		})
	}
}
