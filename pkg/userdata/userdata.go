// SPDX-License-Identifier: Apache-2.0

// Package userdata judges what a guest is given to configure itself from: what
// region's parser takes, what the provider has room for, and what cloud-init in
// the guest will do with it. The facts are in docs/reference/wire.md, "User
// data".
//
// Raw is always the decoded value. No error and no warning repeats any of it:
// user data holds secrets, and messages end up in logs.
package userdata

import (
	"bytes"
	"errors"
	"fmt"
)

var (
	// ErrGzip refuses what cannot become part of a larger message.
	ErrGzip = errors.New("user data that is compressed cannot be combined with an SSH certificate authority: send it uncompressed")
	// ErrMultipart refuses a multipart message that cannot be read.
	ErrMultipart = errors.New("user data looks like a multipart message, but is not one")
	// ErrUnknownFormat refuses what no guest would know what to do with.
	ErrUnknownFormat = errors.New("user data is in no format that is accepted")
)

var gzipMagic = []byte{0x1f, 0x8b}

// CheckManaged judges user data of a server with an SSH certificate authority,
// to which region adds a part of its own. It differs from Check in gzip only,
// so it also tells whether stored user data goes with an authority.
func CheckManaged(raw []byte) error {
	if bytes.HasPrefix(raw, gzipMagic) {
		return ErrGzip
	}
	return Check(raw)
}

// Check judges user data of a server without an SSH certificate authority.
// What it accepts, none at all included, region accepts, and the other way
// round. Gzip is accepted whatever is in it. An error wraps ErrMultipart or
// ErrUnknownFormat and says what to do.
func Check(raw []byte) error {
	err := verdict(raw)
	if errors.Is(err, ErrUnknownFormat) {
		return fmt.Errorf("%w: %s", err, remedy(raw))
	}
	return err
}

// verdict is Check without advice.
func verdict(raw []byte) error {
	switch {
	case len(raw) == 0, bytes.HasPrefix(raw, gzipMagic):
		return nil
	case isMultipart(raw):
		_, err := regionParts(raw)
		return err
	case regionLabel(raw) == "":
		return ErrUnknownFormat
	default:
		return nil
	}
}
