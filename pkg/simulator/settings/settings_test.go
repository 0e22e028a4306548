// SPDX-License-Identifier: Apache-2.0

package settings_test

import (
	"strings"
	"testing"

	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/settings"
)

func TestMergeKeepsWhatIsNotNamed(t *testing.T) {
	store := settings.NewStore(settings.Default())
	got, err := store.Merge(strings.NewReader(`{"bootMillis": 5, "rebuildStyle": "old"}`))
	if err != nil {
		t.Fatal(err)
	}
	want := settings.Default()
	want.BootMillis, want.RebuildStyle = 5, settings.RebuildOld
	if got != want || store.Get() != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestMergeRefuses(t *testing.T) {
	tests := map[string]string{
		"an unknown member":     `{"bootMilis": 5}`,
		"a negative duration":   `{"stopMillis": -1}`,
		"a lag without memory":  `{"readLagMillis": 60000}`,
		"an unknown style":      `{"rebuildStyle": "newer"}`,
		"an unknown list style": `{"emptyLists": "[]"}`,
		"a string for a number": `{"bootMillis": "5"}`,
		"no object":             `[]`,
		"nothing":               ``,
	}
	for name, patch := range tests {
		t.Run(name, func(t *testing.T) {
			store := settings.NewStore(settings.Default())
			if _, err := store.Merge(strings.NewReader(patch)); err == nil {
				t.Error("accepted")
			}
			if store.Get() != settings.Default() {
				t.Error("a refused patch changed the settings")
			}
		})
	}
}
