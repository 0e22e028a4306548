// SPDX-License-Identifier: Apache-2.0

package consolelog

import "testing"

func TestTail(t *testing.T) {
	for _, test := range []struct {
		text  string
		lines int64
		want  string
	}{
		{"a\nb\nc\n", 0, ""},
		{"a\nb\nc\n", 1, "c\n"},
		{"a\nb\nc\n", 2, "b\nc\n"},
		{"a\nb\nc\n", 3, "a\nb\nc\n"},
		{"a\nb\nc\n", 1 << 62, "a\nb\nc\n"},
		{"a\nb\nlogin: ", 0, ""},
		{"a\nb\nlogin: ", 1, "login: "},
		{"a\nb\nlogin: ", 2, "b\nlogin: "},
		{"a\n\n", 1, "\n"},
		{"\n", 1, "\n"},
		{"", 0, ""},
		{"", 5, ""},
	} {
		if got := Tail(test.text, test.lines); got != test.want {
			t.Errorf("Tail(%q, %d) = %q, want %q", test.text, test.lines, got, test.want)
		}
	}
}
