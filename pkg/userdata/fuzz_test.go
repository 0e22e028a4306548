// SPDX-License-Identifier: Apache-2.0

package userdata_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/unikorn-cloud/instance-apiserver/pkg/userdata"
)

// FuzzCheck holds the two verdicts against each other: they differ in gzip
// only. A script is accepted unless it can be read as a mail.
func FuzzCheck(f *testing.F) {
	for _, test := range cases {
		f.Add([]byte(test.raw))
	}
	f.Add([]byte(gzipped(f, "#cloud-config\n")))
	f.Fuzz(func(t *testing.T, raw []byte) {
		unmanaged, managed := userdata.Check(raw), userdata.CheckManaged(raw)
		compressed := bytes.HasPrefix(raw, []byte{0x1f, 0x8b})
		switch {
		case compressed && (unmanaged != nil || !errors.Is(managed, userdata.ErrGzip)):
			t.Errorf("gzip: unmanaged %v, managed %v", unmanaged, managed)
		case !compressed && (unmanaged == nil) != (managed == nil):
			t.Errorf("unmanaged %v, managed %v", unmanaged, managed)
		}
		if unmanaged != nil && bytes.HasPrefix(raw, []byte("#!")) && !couldBeMail(raw) {
			t.Errorf("a script was refused: %v", unmanaged)
		}
	})
}

// FuzzWarnings holds all that is said to what is promised of it, whatever the
// user data.
func FuzzWarnings(f *testing.F) {
	for _, test := range guestCases {
		f.Add([]byte(test.raw))
		f.Add([]byte(gzipped(f, test.raw)))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		unmanaged, managed := userdata.Warnings(raw), userdata.WarningsManaged(raw)
		checkTexts(t, unmanaged)
		checkTexts(t, managed)
		if userdata.Check(raw) != nil && len(unmanaged)+len(managed) > 0 {
			t.Errorf("warnings of what is refused: %q, %q", unmanaged, managed)
		}
	})
}

// FuzzSize holds sizes against each other: region adds its part to whatever it
// takes, and takes nothing away but the encoding of quoted-printable.
func FuzzSize(f *testing.F) {
	for _, test := range guestCases {
		f.Add([]byte(test.raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if got := userdata.Size(raw, ""); got != len(raw) {
			t.Errorf("%d bytes count as %d", len(raw), got)
		}
		managed := userdata.Size(raw, authorityKey)
		switch {
		case userdata.CheckManaged(raw) != nil:
			if managed != len(raw) {
				t.Errorf("%d bytes that are refused count as %d", len(raw), managed)
			}
		case userdata.Label(raw) != "" && !couldBeMail(raw) && managed <= len(raw):
			t.Errorf("%d bytes count as %d with an authority", len(raw), managed)
		}
		if (managed <= userdata.MaxSize) != (userdata.CheckSize(raw, authorityKey) == nil) {
			t.Errorf("%d bytes: %v", managed, userdata.CheckSize(raw, authorityKey))
		}
	})
}

func couldBeMail(raw []byte) bool {
	return bytes.Contains(bytes.ToLower(raw), []byte("content-type"))
}
