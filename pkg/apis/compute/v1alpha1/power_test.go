// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"testing"
	"time"
)

func TestPowerRequest(t *testing.T) {
	asked := time.Date(2026, 7, 1, 12, 0, 0, 123456789, time.FixedZone("", 3600))
	want := PowerRequest{State: "Running", Time: asked}
	value := want.String()
	if value != "Running 2026-07-01T11:00:00.123456789Z" {
		t.Errorf("written as %q", value)
	}
	got, ok := PowerRequestOf(map[string]string{AnnotationPowerRequested: value})
	if !ok || got.State != want.State || !got.Time.Equal(asked) {
		t.Errorf("read as %v, %t", got, ok)
	}
	for _, malformed := range []string{
		"", "Running", "Running ", "2026-07-01T11:00:00Z", " 2026-07-01T11:00:00Z", "Running now", "Running  2026-07-01T11:00:00Z",
	} {
		if got, ok := PowerRequestOf(map[string]string{AnnotationPowerRequested: malformed}); ok {
			t.Errorf("%q is read as %v", malformed, got)
		}
	}
}
