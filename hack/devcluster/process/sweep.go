// SPDX-License-Identifier: Apache-2.0

package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// sweepInterval is how often a killed process is looked at.
const sweepInterval = 20 * time.Millisecond

// Sweep kills the processes that the pid files match and returns their names
// when they are gone. A process counts only if mark stands on its command
// line: the pid of one that ended may belong to another by now.
func Sweep(ctx context.Context, pidFiles, mark string) ([]string, error) {
	files, err := filepath.Glob(pidFiles)
	if err != nil {
		return nil, err
	}
	var killed []string
	var failures []error
	for _, file := range files {
		found, err := sweep(ctx, file, []byte(mark))
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", file, err))
			continue
		}
		if found {
			killed = append(killed, filepath.Base(file))
		}
	}
	return killed, errors.Join(failures...)
}

func sweep(ctx context.Context, file string, mark []byte) (found bool, err error) {
	content, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(content)))
	if err != nil || pid <= 1 {
		return false, fmt.Errorf("%q is no process id", bytes.TrimSpace(content))
	}
	found, err = kill(ctx, pid, mark)
	if err != nil {
		return found, err
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return found, err
	}
	return found, nil
}

// kill ends the process and waits until its command line is gone.
func kill(ctx context.Context, pid int, mark []byte) (found bool, err error) {
	ticker := time.NewTicker(sweepInterval)
	defer ticker.Stop()
	for {
		line, err := commandLine(pid)
		if err != nil || !bytes.Contains(line, mark) {
			return found, err
		}
		found = true
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return found, err
		}
		select {
		case <-ctx.Done():
			return found, fmt.Errorf("process %d is still there: %w", pid, context.Cause(ctx))
		case <-ticker.C:
		}
	}
}
