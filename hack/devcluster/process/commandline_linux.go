// SPDX-License-Identifier: Apache-2.0

package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// commandLine returns the arguments of a process, nothing when there is none
// or it only waits to be reaped.
func commandLine(pid int) ([]byte, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return nil, nil
	}
	return bytes.ReplaceAll(content, []byte{0}, []byte{' '}), err
}
