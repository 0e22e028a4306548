// SPDX-License-Identifier: Apache-2.0

package consolelog

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
)

var (
	errPassing = errors.New("down for a moment")
	errGone    = errors.New("gone")
)

// console is a console whose reads are counted.
type console struct {
	mu    sync.Mutex
	text  string
	err   error
	reads chan struct{}
}

func newConsole(text string) *console {
	return &console{text: text, reads: make(chan struct{}, 1<<16)}
}

func (c *console) read(context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case c.reads <- struct{}{}:
	default:
	}
	return c.text, c.err
}

func (c *console) set(text string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text, c.err = text, err
}

// awaitReads returns after two reads that begin from now on: the first may have
// been under way.
func (c *console) awaitReads() {
	for len(c.reads) > 0 {
		<-c.reads
	}
	<-c.reads
	<-c.reads
}

func newFollowers(t *testing.T, limits Limits) *Followers {
	t.Helper()
	if limits.Interval == 0 {
		limits.Interval = time.Millisecond
	}
	if limits.Longest == 0 {
		limits.Longest = time.Hour
	}
	f := New(limits, func(err error) bool { return errors.Is(err, errPassing) })
	t.Cleanup(f.Close)
	return f
}

var wide = Limits{PerConsole: 100, PerUser: 100, PerTenant: 100, Total: 100}

// reader reads a stream by lines.
type reader struct {
	io.Closer
	*bufio.Scanner
}

func follow(t *testing.T, f *Followers, name string, c *console, lines *int64) reader {
	t.Helper()
	stream, err := f.Follow(t.Context(), Request{Console: name, Lines: lines, Read: c.read})
	if err != nil {
		t.Fatal(err)
	}
	return reader{stream, bufio.NewScanner(stream)}
}

func (r reader) expect(t *testing.T, lines ...string) {
	t.Helper()
	for _, want := range lines {
		if !r.Scan() {
			t.Fatalf("the stream ended before %q: %v", want, r.Err())
		}
		if r.Text() != want {
			t.Fatalf("%q, want %q", r.Text(), want)
		}
	}
}

func (r reader) expectEnd(t *testing.T) {
	t.Helper()
	if r.Scan() {
		t.Fatalf("%q, want the end", r.Text())
	}
}

func TestFollow(t *testing.T) {
	f, c := newFollowers(t, wide), newConsole("a\nb\n")
	all := follow(t, f, "x", c, nil)
	all.expect(t, "a", "b")
	c.set("a\nb\nc\n", nil)
	all.expect(t, "c")
	last := follow(t, f, "x", c, ptr.To[int64](1))
	last.expect(t, "c")
	none := follow(t, f, "x", c, ptr.To[int64](0))
	c.set("c\nd\n", nil)
	for _, r := range []reader{all, last, none} {
		r.expect(t, "d")
	}
}

// However many follow a console, one reads it, and only while there are any.
func TestOnePollerAConsole(t *testing.T) {
	f, c, other := newFollowers(t, wide), newConsole("a\n"), newConsole("b\n")
	first, second := follow(t, f, "x", c, nil), follow(t, f, "x", c, nil)
	third := follow(t, f, "y", other, nil)
	if len(f.pollers) != 2 {
		t.Errorf("%d pollers, want 2", len(f.pollers))
	}
	_ = first.Close()
	c.awaitReads()
	_ = second.Close()
	_ = second.Close()
	_ = third.Close()
	if len(f.pollers) != 0 || len(f.places) != 0 {
		t.Errorf("%d pollers, %d followers, want none", len(f.pollers), f.places[everybody])
	}
	f.running.Wait()
}

func TestFirstReadFails(t *testing.T) {
	for _, want := range []error{errPassing, errGone} {
		f, c := newFollowers(t, wide), newConsole("")
		c.set("", want)
		if _, err := f.Follow(t.Context(), Request{Console: "x", Read: c.read}); !errors.Is(err, want) {
			t.Errorf("error %v, want %v", err, want)
		}
		if len(f.places) != 0 {
			t.Errorf("%d followers, want none", f.places[everybody])
		}
	}
}

func TestPassingErrorsPass(t *testing.T) {
	f, c := newFollowers(t, wide), newConsole("a\n")
	r := follow(t, f, "x", c, nil)
	r.expect(t, "a")
	c.set("", errPassing)
	c.awaitReads()
	// Nothing kept for a moment does not make what comes back new.
	c.set("", nil)
	c.awaitReads()
	c.set("a\nb\n", nil)
	r.expect(t, "b")
}

func TestStreamEndsWithTheConsole(t *testing.T) {
	f, c := newFollowers(t, wide), newConsole("a\n")
	r := follow(t, f, "x", c, nil)
	c.set("", errGone)
	r.expect(t, "a")
	r.expectEnd(t)
	// There is a new one of the same name, which another poller reads.
	c.set("b\n", nil)
	again := follow(t, f, "x", c, nil)
	again.expect(t, "b")
	_ = r.Close()
	c.set("b\nc\n", nil)
	again.expect(t, "c")
}

func TestStreamEndsWithItsContext(t *testing.T) {
	f, c := newFollowers(t, wide), newConsole("a\n")
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := f.Follow(ctx, Request{Console: "x", Lines: ptr.To[int64](0), Read: c.read})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := stream.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	_ = stream.Close()
	if len(f.places) != 0 {
		t.Errorf("%d followers, want none", f.places[everybody])
	}
}

func TestNobodyFollowsForEver(t *testing.T) {
	limits := wide
	limits.Longest = 50 * time.Millisecond
	f, c := newFollowers(t, limits), newConsole("a\n")
	stream, err := f.Follow(t.Context(), Request{Console: "x", Read: c.read})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(stream); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

func TestClose(t *testing.T) {
	f, c := newFollowers(t, wide), newConsole("a\n")
	r := follow(t, f, "x", c, nil)
	f.Close()
	r.expect(t, "a")
	r.expectEnd(t)
	if _, err := f.Follow(t.Context(), Request{Console: "x", Read: c.read}); !errors.Is(err, ErrClosed) {
		t.Errorf("error %v, want %v", err, ErrClosed)
	}
	_ = r.Close()
	f.Close()
}

// One who does not read does not hold up the others, and is let go: others can
// have the place before it notices.
func TestFollowerThatDoesNotRead(t *testing.T) {
	limits := wide
	limits.PerConsole = 2
	f, c := newFollowers(t, limits), newConsole("a\n")
	idle, other := follow(t, f, "x", c, nil), follow(t, f, "x", c, nil)
	other.Buffer(nil, 2*window)
	other.expect(t, "a")
	for _, letter := range []string{"x", "y", "z"} {
		line := strings.Repeat(letter, window*4/5)
		c.set(line+"\n", nil)
		if !other.Scan() || other.Text() != line {
			t.Fatalf("%d bytes, want %d: %v", len(other.Text()), len(line), other.Err())
		}
	}
	free := func(ctx context.Context) (bool, error) {
		again, err := f.Follow(ctx, Request{Console: "x", Read: c.read})
		if errors.Is(err, ErrTooMany) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		return true, again.Close()
	}
	if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, free); err != nil {
		t.Fatal(err)
	}
	idle.Buffer(nil, 2*window)
	idle.expect(t, "a")
	for idle.Scan() {
		if strings.Contains(idle.Text(), "z") {
			t.Error("lines after the gap")
		}
	}
	if !errors.Is(idle.Err(), errBehind) {
		t.Errorf("error %v, want %v", idle.Err(), errBehind)
	}
	_ = idle.Close()
	if got := f.places[everybody]; got != 1 {
		t.Errorf("%d followers, want 1", got)
	}
}

// Followers that come and go while the machine writes, some lines for each read
// and more than are kept, each see an unbroken piece of it.
func TestManyFollowers(t *testing.T) {
	f := newFollowers(t, wide)
	var mu sync.Mutex
	var written strings.Builder
	lines := 0
	read := func(context.Context) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		for range 7 {
			fmt.Fprintf(&written, "line %d\n", lines)
			lines++
		}
		return Tail(written.String(), 20), nil
	}
	var following sync.WaitGroup
	for range 20 {
		following.Go(func() {
			for range 5 {
				stream, err := f.Follow(t.Context(), Request{Console: "x", Lines: ptr.To[int64](3), Read: read})
				if err != nil {
					t.Error(err)
					return
				}
				expectUnbroken(t, stream, 30)
				_ = stream.Close()
			}
		})
	}
	following.Wait()
}

func expectUnbroken(t *testing.T, stream io.Reader, lines int) {
	scanner, before := bufio.NewScanner(stream), -1
	for range lines {
		if !scanner.Scan() {
			t.Errorf("the stream ended: %v", scanner.Err())
			return
		}
		var number int
		if _, err := fmt.Sscanf(scanner.Text(), "line %d", &number); err != nil {
			t.Errorf("%q: %v", scanner.Text(), err)
			return
		}
		if before >= 0 && number != before+1 {
			t.Errorf("line %d after line %d", number, before)
		}
		before = number
	}
}
