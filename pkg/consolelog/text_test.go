// SPDX-License-Identifier: Apache-2.0

package consolelog

import (
	"strings"
	"testing"
)

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

func TestFresh(t *testing.T) {
	for name, test := range map[string]struct{ last, next, want string }{
		"first":               {"", "a\nb\n", "a\nb\n"},
		"nothing":             {"a\nb\n", "a\nb\n", ""},
		"grown":               {"a\nb\n", "a\nb\nc\n", "c\n"},
		"line goes on":        {"a\nlogin: ", "a\nlogin: root\n", "root\n"},
		"beginning dropped":   {"a\nb\nc\n", "b\nc\nd\n", "d\n"},
		"dropped, no more":    {"a\nb\nc\n", "c\n", ""},
		"dropped within line": {"heartbeat 1\nheartbeat 2\n", "beat 2\nheartbeat 3\n", "heartbeat 3\n"},
		"longest overlap":     {"x\nx\nx\n", "x\nx\ny\n", "y\n"},
		"false starts":        {"aab aab aac", "aab aacd", "d"},
		"nothing in common":   {"a\nb\n", "c\nd\n", "c\nd\n"},
		"all gone":            {"a\nb\n", "", ""},
	} {
		if got := Fresh(test.last, test.next); got != test.want {
			t.Errorf("%s: Fresh(%q, %q) = %q, want %q", name, test.last, test.next, got, test.want)
		}
	}
}

// The slow and obvious way to find the overlap.
func slowOverlap(last, next string) int {
	for length := min(len(last), len(next)); ; length-- {
		if strings.HasPrefix(next, last[len(last)-length:]) {
			return length
		}
	}
}

func FuzzFresh(f *testing.F) {
	f.Add("aab aab aac", "aab aacd")
	f.Add("x\nx\n", "x\nx\nx\n")
	f.Add("\x00\xff", "")
	f.Fuzz(func(t *testing.T, last, next string) {
		if got, want := overlap(last, next), slowOverlap(last, next); got != want {
			t.Errorf("overlap(%q, %q) = %d, want %d", last, next, got, want)
		}
		if got, want := Fresh(last, next), next[slowOverlap(last, next):]; got != want {
			t.Errorf("Fresh(%q, %q) = %q, want %q", last, next, got, want)
		}
	})
}

// A console that keeps so much of what a machine writes, read at any moments,
// comes out as it was written.
func FuzzRotation(f *testing.F) {
	f.Add("boot 1\nup 1 s\nup 2 s\nboot 2\nup 1 s\n", []byte{3, 9, 1, 7, 8}, uint8(30))
	f.Fuzz(func(t *testing.T, written string, steps []byte, kept uint8) {
		// What repeats within what is kept cannot be told from what stays.
		unique := map[byte]bool{}
		for i := range len(written) {
			if unique[written[i]] {
				t.Skip("repeats")
			}
			unique[written[i]] = true
		}
		seen, last, end := "", "", 0
		for _, step := range steps {
			end = min(end+min(int(step), int(kept)), len(written))
			next := written[max(0, end-int(kept)):end]
			if next == "" {
				continue
			}
			seen += Fresh(last, next)
			last = next
		}
		if kept > 0 && seen != written[:end] {
			t.Errorf("read %q of %q", seen, written[:end])
		}
	})
}

func TestLastWindow(t *testing.T) {
	long := strings.Repeat("x", window) + "end"
	if got := lastWindow(long); len(got) != window || !strings.HasSuffix(got, "xend") {
		t.Errorf("window of %d bytes", len(got))
	}
	if got := lastWindow("short"); got != "short" {
		t.Errorf("window %q", got)
	}
}
