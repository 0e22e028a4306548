// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"slices"
	"testing"
)

func TestSwapFinalizers(t *testing.T) {
	f := newFinalizers("example.com")
	for name, test := range map[string]struct{ facade, stored []string }{
		"none":             {nil, nil},
		"others":           {[]string{"unikorn", "a.b/c"}, []string{"unikorn", "a.b/c"}},
		"foreground":       {[]string{"unikorn", "foregroundDeletion"}, []string{"unikorn", "example.com/foreground-deletion"}},
		"orphan":           {[]string{"orphan", "unikorn"}, []string{"example.com/orphan", "unikorn"}},
		"the stored one's": {[]string{"example.com/foreground-deletion"}, []string{"foregroundDeletion"}},
		"both":             {[]string{"orphan", "example.com/orphan"}, []string{"example.com/orphan", "orphan"}},
	} {
		t.Run(name, func(t *testing.T) {
			before := slices.Clone(test.facade)
			if got := f.swap(test.facade); !slices.Equal(got, test.stored) {
				t.Errorf("stored: got %v, want %v", got, test.stored)
			}
			if got := f.swap(test.stored); !slices.Equal(got, test.facade) {
				t.Errorf("shown: got %v, want %v", got, test.facade)
			}
			if !slices.Equal(test.facade, before) {
				t.Error("the argument was changed")
			}
		})
	}
}

func TestWithoutLateCollectors(t *testing.T) {
	f := newFinalizers("example.com")
	stored := []string{"unikorn", "example.com/orphan"}
	next := []string{"unikorn", "example.com/orphan", "example.com/foreground-deletion", "somebody/else"}
	want := []string{"unikorn", "example.com/orphan", "somebody/else"}
	if got := f.withoutLateCollectors(stored, next); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
