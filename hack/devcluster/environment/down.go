// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/process"
)

// Down stops what runs in the folder at path, from another process than the one
// that started it, and returns when nothing is left of it. An owner that does
// not end within patience is killed. It reports whether there was anything.
func Down(ctx context.Context, path string, patience time.Duration) (stopped bool, err error) {
	folder, err := absolute(path)
	if err != nil {
		return false, err
	}
	if _, err := os.Stat(string(folder)); errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	left, err := folder.takeOver(ctx)
	if running := (*RunningError)(nil); !errors.As(err, &running) {
		return left, err
	}
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		err := folder.end(ctx, signal, patience)
		if running := (*RunningError)(nil); !errors.As(err, &running) {
			return true, err
		}
	}
	return true, err
}

// end sends signal to the owner and takes over from it. It is a *RunningError
// if the owner is still there after patience.
func (f Folder) end(ctx context.Context, signal syscall.Signal, patience time.Duration) error {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	signalled := false
	for {
		_, err := f.takeOver(ctx)
		running := (*RunningError)(nil)
		if !errors.As(err, &running) {
			return err
		}
		if !signalled && running.PID > 1 {
			if err := syscall.Kill(running.PID, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("signal %v to process %d: %w", signal, running.PID, err)
			}
			signalled = true
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-deadline.C:
			return running
		case <-poll.C:
		}
	}
}

// takeOver becomes the owner of the folder and ends what an earlier one left.
func (f Folder) takeOver(ctx context.Context) (found bool, err error) {
	lock, err := f.lock()
	if err != nil {
		return false, err
	}
	left, err := f.sweep(ctx)
	return len(left) > 0, errors.Join(err, f.clear(), lock.Close())
}

// sweep kills components whose owner is gone. Each has a file of the folder on
// its command line.
func (f Folder) sweep(ctx context.Context) ([]string, error) {
	return process.Sweep(ctx, f.pidFile("*"), string(f)+"/")
}
