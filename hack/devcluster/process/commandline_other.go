// SPDX-License-Identifier: Apache-2.0

//go:build unix && !linux

package process

import (
	"errors"
	"os/exec"
	"strconv"
)

// commandLine returns the arguments of a process, nothing when there is none.
func commandLine(pid int) ([]byte, error) {
	content, err := exec.Command("ps", "-ww", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil, nil
	}
	return content, err
}
