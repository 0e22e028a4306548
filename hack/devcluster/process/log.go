// SPDX-License-Identifier: Apache-2.0

package process

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

const (
	tailLines = 15
	tailBytes = 16 << 10
)

// Tail returns the last lines of a log under a heading that names it, for
// messages about the program that wrote it.
func Tail(file string) string {
	lines, err := lastLines(file)
	switch {
	case err != nil:
		return fmt.Sprintf("its log cannot be read: %v", err)
	case len(lines) == 0:
		return fmt.Sprintf("%s is empty", file)
	}
	return fmt.Sprintf("the end of %s:\n%s", file, lines)
}

func lastLines(file string) (lines []byte, err error) {
	log, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	size, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.NewSectionReader(log, max(0, size-tailBytes), tailBytes))
	if err != nil {
		return nil, err
	}
	all := bytes.Split(bytes.TrimRight(content, "\n"), []byte("\n"))
	return bytes.Join(all[max(0, len(all)-tailLines):], []byte("\n")), nil
}
