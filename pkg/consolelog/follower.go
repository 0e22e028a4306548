// SPDX-License-Identifier: Apache-2.0

package consolelog

import (
	"context"
	"errors"
	"io"
	"sync"
)

// maxBehind is how many bytes are kept for a follower that does not read them.
const maxBehind = 1 << 20

// errBehind ends a follower that does not read for long. It would miss lines,
// or fill the memory.
var errBehind = errors.New("too far behind")

var _ io.ReadCloser = &follower{}

// follower is the stream of one follower.
type follower struct {
	ctx   context.Context //nolint:containedctx // io.Reader has no other way to be told
	leave func()
	// woken has one element when there is something to read.
	woken chan struct{}

	mu      sync.Mutex
	pending string
	// ended is set when nothing more will come.
	ended error
}

func newFollower(ctx context.Context) *follower {
	return &follower{ctx: ctx, woken: make(chan struct{}, 1)}
}

// Read implements io.Reader. It waits for what is new.
func (f *follower) Read(into []byte) (int, error) {
	if len(into) == 0 {
		return 0, nil
	}
	for {
		read, err := f.take(into)
		if read > 0 || err != nil {
			return read, err
		}
		select {
		case <-f.woken:
		case <-f.ctx.Done():
			return 0, f.ctx.Err()
		}
	}
}

// Close implements io.Closer.
func (f *follower) Close() error {
	f.leave()
	return nil
}

func (f *follower) take(into []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pending == "" {
		return 0, f.ended
	}
	read := copy(into, f.pending)
	f.pending = f.pending[read:]
	return read, nil
}

// begin is not limited: it is what the follower has asked for.
func (f *follower) begin(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pending = text
	f.wake()
}

// deliver reports whether the follower still follows.
func (f *follower) deliver(text string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pending != "" && len(f.pending)+len(text) > maxBehind {
		f.ended = errBehind
	} else {
		f.pending += text
	}
	f.wake()
	return f.ended == nil
}

func (f *follower) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = io.EOF
	f.wake()
}

func (f *follower) wake() {
	select {
	case f.woken <- struct{}{}:
	default:
	}
}
