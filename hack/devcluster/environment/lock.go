// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"
)

// RunningError says that the folder belongs to an environment that runs.
type RunningError struct {
	Folder Folder
	// PID of the process that owns it, 0 while that has not said.
	PID int
}

func (e *RunningError) Error() string {
	return fmt.Sprintf("already running in %s (process %d): use it, or stop it with \"make down\" or \"devcluster down\"", e.Folder, e.PID)
}

// lock makes this process the owner of the folder until the file is closed.
// The kernel closes it when the process ends, however that happens, so a lock
// is never stale.
func (f Folder) lock() (*os.File, error) {
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(f.path("lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.own(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

func (f Folder) own(file *os.File) error {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		pid, err := owner(file)
		if err != nil {
			return err
		}
		return &RunningError{Folder: f, PID: pid}
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", file.Name(), err)
	}
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err = file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

func owner(file *os.File) (int, error) {
	content, err := io.ReadAll(file)
	if err != nil {
		return 0, err
	}
	content = bytes.TrimSpace(content)
	if len(content) == 0 {
		return 0, nil
	}
	return strconv.Atoi(string(content))
}
