// SPDX-License-Identifier: Apache-2.0

package userdata

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// maxWarnings is how many warnings are given, in all.
const maxWarnings = 8

// whole is how warnings name what is no part.
const whole = "user data"

// Warnings tells what the guest would skip or fail at in user data of a server
// without an SSH certificate authority, although region takes it, and whether
// it keeps everybody from logging in. It says nothing of what Check or
// CheckSize refuses.
//
// There are at most eight, each a sentence of less than 200 bytes that names
// the part concerned by its number, counted from 1 ("part 2", or "part 2.1"
// inside of it). Gzip is looked into up to 1 MiB, and YAML up to 128 KiB.
func Warnings(raw []byte) []string {
	if len(raw) == 0 || Check(raw) != nil || CheckSize(raw, "") != nil {
		return nil
	}
	i := newInspection()
	if !bytes.HasPrefix(raw, gzipMagic) {
		i.payload(whole, raw)
	} else if content, ok := i.decompress(whole, raw); ok {
		i.payload("decompressed "+whole, content)
	}
	if i.logins.excludeAll() {
		i.warn(whole, lockedOut)
	}
	return i.warnings
}

// WarningsManaged is Warnings for a server with an SSH certificate authority.
// The guest gets such user data from region's hands, as parts of another
// message, with the labels that region gives them, and with cloud-config behind
// them that wins over theirs. An authority lets root log in, so nobody is kept
// from it.
func WarningsManaged(raw []byte) []string {
	if len(raw) == 0 || CheckManaged(raw) != nil || CheckSize(raw, "") != nil {
		return nil
	}
	i := newInspection()
	i.replaced = authorityKeys
	message, err := augment(raw, "")
	if err != nil {
		return nil
	}
	if !utf8.Valid(message) {
		i.warn(whole, "is not UTF-8: with an SSH certificate authority, cloud-init can read neither it nor the authority")
		return i.warnings
	}
	if isMultipart(raw) {
		i.message(whole, raw)
		return i.warnings
	}
	// The two ways to include differ in nothing that the label decides.
	label := Label(raw)
	if given := regionLabel(raw); given != label && label != typeIncludeOnce {
		i.warn(whole, fmt.Sprintf("does not work with an SSH certificate authority: "+
			"it reaches cloud-init labelled %s; send it as a part of type %s in a multipart message", given, label))
	}
	i.content(whole, label, raw)
	return i.warnings
}

// inspection goes through user data as cloud-init does and notes what goes
// wrong.
type inspection struct {
	warnings []string
	// room is how many more bytes may come out of decompression, in all.
	room int64
	// yamlRoom is how many more bytes of YAML may be examined, in all.
	yamlRoom int
	// handlers says that a part brought a handler, for types of its own.
	handlers bool
	// replaced are the top-level keys of cloud-config that a later part sets.
	replaced []string
	// logins is what became clear of who can log in.
	logins logins
}

func newInspection() *inspection {
	return &inspection{room: maxDecompressed, yamlRoom: maxYAML}
}

// unexamined notes that the subject may do anything, and why.
func (i *inspection) unexamined(subject, reason string) {
	i.logins.unknown = true
	i.warn(subject, "was not examined: "+reason)
}

// warn notes what the subject does. Neither may come from user data.
func (i *inspection) warn(subject, predicate string) {
	switch {
	case i.full():
	case len(i.warnings) == maxWarnings-1:
		i.warnings = append(i.warnings, whole+" has more problems than are listed here")
	default:
		i.warnings = append(i.warnings, subject+" "+predicate)
	}
}

func (i *inspection) full() bool {
	return len(i.warnings) == maxWarnings
}
