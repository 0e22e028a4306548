// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"testing"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/types"
)

func TestFacadeUID(t *testing.T) {
	const salt = "instances.compute.unikorn-cloud.org"
	const stored = types.UID("6f1f9c2e-5d1c-4a0e-9a57-0d2f2b1f6a11")
	got := FacadeUID(stored, salt)
	if want := uuid.NewSHA1(uuid.MustParse(string(stored)), []byte(salt)).String(); string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if parsed := uuid.MustParse(string(got)); parsed.Version() != 5 {
		t.Errorf("%s is of version %d, want 5", got, parsed.Version())
	}
	if other := FacadeUID(stored, "other"); other == got {
		t.Error("two kinds share a uid")
	}
	if got := FacadeUID("not a uuid", salt); got == "not a uuid" || got == FacadeUID("nor this", salt) {
		t.Errorf("%q does not tell objects apart", got)
	}
}
