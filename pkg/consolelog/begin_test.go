// SPDX-License-Identifier: Apache-2.0

package consolelog

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
)

func TestLimits(t *testing.T) {
	for name, test := range map[string]struct {
		limits Limits
		taken  []Request
		// free are those that get a place, full those that do not.
		free, full Request
	}{
		"console": {
			Limits{PerConsole: 2, PerUser: 9, PerTenant: 9, Total: 9},
			[]Request{{Console: "x", User: "a", Tenant: "t"}, {Console: "x", User: "b", Tenant: "u"}},
			Request{Console: "y", User: "a", Tenant: "t"},
			Request{Console: "x", User: "c", Tenant: "v"},
		},
		"user": {
			Limits{PerConsole: 9, PerUser: 2, PerTenant: 9, Total: 9},
			[]Request{{Console: "x", User: "a", Tenant: "t"}, {Console: "y", User: "a", Tenant: "u"}},
			Request{Console: "x", User: "b", Tenant: "t"},
			Request{Console: "z", User: "a", Tenant: "v"},
		},
		"tenant": {
			Limits{PerConsole: 9, PerUser: 9, PerTenant: 2, Total: 9},
			[]Request{{Console: "x", User: "a", Tenant: "t"}, {Console: "y", User: "b", Tenant: "t"}},
			Request{Console: "z", User: "a", Tenant: "u"},
			Request{Console: "z", User: "c", Tenant: "t"},
		},
		"all": {
			Limits{PerConsole: 9, PerUser: 9, PerTenant: 9, Total: 3},
			[]Request{{Console: "x", User: "a", Tenant: "t"}, {Console: "y", User: "b", Tenant: "u"}},
			Request{Console: "x", User: "a", Tenant: "t"},
			Request{Console: "z", User: "c", Tenant: "v"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, c := newFollowers(t, test.limits), newConsole("a\n")
			follow := func(request Request) io.Closer {
				t.Helper()
				request.Read = c.read
				stream, err := f.Follow(t.Context(), request)
				if err != nil {
					t.Fatal(err)
				}
				return stream
			}
			first := follow(test.taken[0])
			follow(test.taken[1])
			follow(test.free)
			if _, err := f.Follow(t.Context(), test.full); !errors.Is(err, ErrTooMany) {
				t.Errorf("error %v, want %v", err, ErrTooMany)
			}
			_ = first.Close()
			follow(test.full)
		})
	}
}

// slowConsole says when it is being read, and is so until told to proceed.
type slowConsole struct {
	reading, proceed chan struct{}
}

func (c *slowConsole) read(ctx context.Context) (string, error) {
	select {
	case c.reading <- struct{}{}:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	select {
	case <-c.proceed:
		return "a\n", nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

var seldom = Limits{Interval: time.Hour, PerConsole: 100, PerUser: 100, PerTenant: 100, Total: 100}

// Those who come while the console is read have no read of their own to wait
// for.
func TestOneReadForAllWhoBegin(t *testing.T) {
	f := newFollowers(t, seldom)
	c := &slowConsole{reading: make(chan struct{}), proceed: make(chan struct{})}
	streams, failures := make(chan io.ReadCloser, 20), make(chan error, 20)
	for range 20 {
		go func() {
			stream, err := f.Follow(t.Context(), Request{Console: "x", Read: c.read})
			streams <- stream
			failures <- err
		}()
	}
	<-c.reading
	awaitWaiting(t, f, 20)
	close(c.proceed)
	for range 20 {
		if err := <-failures; err != nil {
			t.Fatal(err)
		}
		reader := bufio.NewScanner(<-streams)
		if !reader.Scan() || reader.Text() != "a" {
			t.Errorf("%q, want a: %v", reader.Text(), reader.Err())
		}
	}
	select {
	case <-c.reading:
		t.Error("read again")
	default:
	}
}

func awaitWaiting(t *testing.T, f *Followers, many int) {
	t.Helper()
	waiting := func(context.Context) (bool, error) {
		f.mu.Lock()
		p := f.pollers["x"]
		f.mu.Unlock()
		if p == nil {
			return false, nil
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.waiting) == many, nil
	}
	if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, waiting); err != nil {
		t.Fatal(err)
	}
}

func TestWaitingForTheFirstReadEndsWithTheContext(t *testing.T) {
	f := newFollowers(t, seldom)
	c := &slowConsole{reading: make(chan struct{}), proceed: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() {
		_, err := f.Follow(ctx, Request{Console: "x", Read: c.read})
		first <- err
	}()
	<-c.reading
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	// Nobody waits for the read any more, so it does not go on.
	f.running.Wait()
	if len(f.places) != 0 {
		t.Errorf("%d followers, want none", f.places[everybody])
	}
}

// However much is kept, a follower begins with the end of it.
func TestBeginningIsBounded(t *testing.T) {
	f := newFollowers(t, wide)
	c := newConsole(strings.Repeat("x", window) + "\n" + strings.Repeat("y", window-1) + "\n")
	r := follow(t, f, "x", c, nil)
	r.Buffer(nil, 2*window)
	r.expect(t, strings.Repeat("y", window-1))
	c.set("z\n", nil)
	r.expect(t, "z")
}

// A read that is behind shows nothing twice to those who follow, and does not
// leave a gap to those who begin with it.
func TestStaleRead(t *testing.T) {
	f, c := newFollowers(t, seldom), newConsole("a\nb\nc\n")
	first := follow(t, f, "x", c, nil)
	first.expect(t, "a", "b", "c")
	c.set("a\nb\n", nil)
	second := follow(t, f, "x", c, ptr.To[int64](1))
	second.expect(t, "c")
	c.set("a\nb\nc\nd\n", nil)
	third := follow(t, f, "x", c, ptr.To[int64](1))
	for _, r := range []reader{first, second, third} {
		r.expect(t, "d")
	}
}
