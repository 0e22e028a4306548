// SPDX-License-Identifier: Apache-2.0

// Package userdata judges what a guest is given to configure itself from, by
// the rules of region's parser. The facts are in docs/reference/wire.md, "User
// data".
package userdata

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrGzip refuses what cannot become part of a larger message.
	ErrGzip = errors.New("compressed user data cannot be combined with an SSH certificate authority")
	// ErrUnknownFormat refuses what no guest would know what to do with.
	ErrUnknownFormat = errors.New("user data is in no format that cloud-init knows: " +
		"its first line must start with one of " + strings.Join(recognised, ", ") + ", or it must be a multipart message or gzip")
)

var gzipMagic = []byte{0x1f, 0x8b}

// recognised are the beginnings of a first line, case included.
var recognised = []string{
	"## template: jinja", "#cloud-config", "#!", "#cloud-boothook", "#cloud-config-archive", "#include", "#part-handler",
}

// CheckManaged judges user data of a server with an SSH certificate authority,
// to which region adds a part of its own. Raw is the decoded value.
func CheckManaged(raw []byte) error {
	if bytes.HasPrefix(raw, gzipMagic) {
		return ErrGzip
	}
	return Check(raw)
}

// Check judges user data of a server without an SSH certificate authority.
// What it accepts, none at all included, region accepts, and the other way
// round. Gzip is accepted whatever is in it.
func Check(raw []byte) error {
	switch {
	case len(raw) == 0, bytes.HasPrefix(raw, gzipMagic):
		return nil
	case isMultipart(raw):
		if err := checkMultipart(raw); err != nil {
			return fmt.Errorf("user data looks like a multipart message, but is not one: %w", err)
		}
		return nil
	}
	line := firstLine(raw)
	for _, beginning := range recognised {
		if strings.HasPrefix(line, beginning) {
			return nil
		}
	}
	return ErrUnknownFormat
}

// firstLine is without surrounding white space.
func firstLine(raw []byte) string {
	line, _, _ := bytes.Cut(raw, []byte("\n"))
	return strings.TrimSpace(string(line))
}
