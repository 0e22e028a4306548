// SPDX-License-Identifier: Apache-2.0

package consolelog

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

const (
	// maxBehind is how many bytes are kept for a follower that does not read
	// them: what it begins with, and as much again.
	maxBehind = 2 * window
	// closeGrace is how long followers may take to read what is left when the
	// server stops.
	closeGrace = time.Second
)

// errBehind ends a follower that does not read for long. It would miss lines,
// or fill the memory.
var errBehind = errors.New("too far behind")

var _ io.ReadCloser = &follower{}

// follower is the stream of one follower.
type follower struct {
	ctx    context.Context //nolint:containedctx // io.Reader has no other way to be told
	cancel context.CancelFunc
	lines  *int64
	leave  func()
	// begun has the outcome of the first read.
	begun chan error
	// woken has one element when there is something to read.
	woken chan struct{}

	mu sync.Mutex
	// pending are pieces that all followers share, of unread bytes together.
	pending []string
	unread  int
	// ended is set when nothing more will come.
	ended error
}

func newFollower(ctx context.Context, lines *int64) *follower {
	return &follower{ctx: ctx, lines: lines, begun: make(chan error, 1), woken: make(chan struct{}, 1)}
}

// Read implements io.Reader. It waits for what is new.
func (f *follower) Read(into []byte) (int, error) {
	if len(into) == 0 {
		return 0, nil
	}
	for {
		// Of a machine that never pauses there is always something to take.
		if err := f.ctx.Err(); err != nil {
			return 0, err
		}
		read, err := f.take(into)
		if read > 0 || err != nil {
			return read, err
		}
		select {
		case <-f.woken:
		case <-f.ctx.Done():
		}
	}
}

// Close implements io.Closer.
func (f *follower) Close() error {
	f.leave()
	f.cancel()
	return nil
}

func (f *follower) take(into []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.pending) == 0 {
		return 0, f.ended
	}
	read := copy(into, f.pending[0])
	f.unread -= read
	if f.pending[0] = f.pending[0][read:]; f.pending[0] == "" {
		f.pending = f.pending[1:]
	}
	return read, nil
}

// begin has the follower begin with what it wanted of text.
func (f *follower) begin(text string) {
	if f.lines != nil {
		text = Tail(text, *f.lines)
	}
	f.deliver(text)
	f.begun <- nil
}

// deliver reports whether the follower still follows.
func (f *follower) deliver(text string) bool {
	if text == "" {
		return true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unread+len(text) > maxBehind {
		f.finish(errBehind)
		hurry(f.ctx, 0)
		return false
	}
	f.pending = append(f.pending, text)
	f.unread += len(text)
	f.wake()
	return true
}

// end is the end of the console, or with ErrClosed that of all.
func (f *follower) end(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.finish(io.EOF)
	if errors.Is(err, ErrClosed) {
		hurry(f.ctx, closeGrace)
	}
}

func (f *follower) finish(err error) {
	f.ended = err
	f.wake()
}

func (f *follower) wake() {
	select {
	case f.woken <- struct{}{}:
	default:
	}
}
