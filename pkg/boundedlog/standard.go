// SPDX-License-Identifier: Apache-2.0

package boundedlog

import (
	"bytes"
	"io"

	"github.com/go-logr/logr"
)

const (
	// standardDepth is how many calls of package log are between a line's writer
	// and its Write.
	standardDepth = 3

	omitted = " (the rest is omitted)"
)

var _ io.Writer = standard{}

// standard logs the lines of Go's package log up to what they quote: its
// libraries quote what they were sent.
type standard struct {
	logger logr.Logger
}

// Write implements io.Writer. It is given one line at a time.
func (s standard) Write(line []byte) (int, error) {
	text, _, quotes := bytes.Cut(line, []byte{'"'})
	message := string(bytes.TrimSpace(text))
	if quotes {
		message += omitted
	}
	s.logger.Info(message)
	return len(line), nil
}
