// SPDX-License-Identifier: Apache-2.0

package consolelog

import (
	"strings"
	"testing"
)

func TestCompare(t *testing.T) {
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
		got, older := compare(test.last, test.next)
		if got != test.want || older {
			t.Errorf("%s: compare(%q, %q) = %q, %v, want %q", name, test.last, test.next, got, older, test.want)
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

func FuzzCompare(f *testing.F) {
	f.Add("aab aab aac", "aab aacd")
	f.Add("x\nx\n", "x\nx\nx\n")
	f.Add("\x00\xff", "")
	f.Fuzz(func(t *testing.T, last, next string) {
		if got, want := overlap(last, next), slowOverlap(last, next); got != want {
			t.Errorf("overlap(%q, %q) = %d, want %d", last, next, got, want)
		}
		if got, _ := compare(last, next); got != next[slowOverlap(last, next):] {
			t.Errorf("compare(%q, %q) = %q, want %q", last, next, got, next[slowOverlap(last, next):])
		}
	})
}

// What is read in turn, and what is shown of it.
func TestNext(t *testing.T) {
	for name, test := range map[string]struct{ reads, want []string }{
		"grows":                  {[]string{"a\n", "a\nb\n"}, []string{"a\n", "b\n"}},
		"nothing for a moment":   {[]string{"a\n", "", "a\nb\n"}, []string{"a\n", "", "b\n"}},
		"older once":             {[]string{"a\nb\nc\n", "a\nb\n", "a\nb\nc\n"}, []string{"a\nb\nc\n", "", ""}},
		"older, then more":       {[]string{"a\nb\nc\n", "a\n", "a\nb\nc\nd\n"}, []string{"a\nb\nc\n", "", "d\n"}},
		"older now and then":     {[]string{"a\nb\n", "a\n", "a\nb\n", "a\n", "a\nb\n", "a\n", "a\nb\n"}, []string{"a\nb\n", "", "", "", "", "", ""}},
		"older, dropped since":   {[]string{"c\nd\ne\n", "b\nc\nd\n", "d\ne\nf\n"}, []string{"c\nd\ne\n", "", "f\n"}},
		"older and shorter":      {[]string{"b\nc\nd\n", "c\n", "b\nc\nd\n"}, []string{"b\nc\nd\n", "", ""}},
		"boots as before":        {[]string{"boot\nup\nend\n", "boot\n", "boot\nup\n", "boot\nup\n", "boot\nup\n2\n"}, []string{"boot\nup\nend\n", "", "", "boot\nup\n", "2\n"}},
		"boots and stops there":  {[]string{"boot\nup\n", "boot\n", "boot\n", "boot\n", "boot\n"}, []string{"boot\nup\n", "", "", "boot\n", ""}},
		"boots otherwise":        {[]string{"boot 1\nup\n", "boot 2\n"}, []string{"boot 1\nup\n", "boot 2\n"}},
		"boots as before, first": {[]string{"boot\nup 1\n", "boot\n", "boot\nup 2\n"}, []string{"boot\nup 1\n", "", "boot\nup 2\n"}},
		"chance at the edges":    {[]string{"\na\nb", "c\nd\n"}, []string{"\na\nb", "c\nd\n"}},
	} {
		var s shown
		for i, read := range test.reads {
			if got := s.next(read); got != test.want[i] {
				t.Errorf("%s: read %d shows %q, want %q", name, i, got, test.want[i])
			}
		}
	}
}

// A console that keeps so much of what a machine writes, read at any moments
// and now and then as it was a read before, comes out as it was written.
func FuzzRotation(f *testing.F) {
	f.Add("boot 1\nup 1 s\nup 2 s\nboot 2\nup 1 s\n", []byte{3, 9, 1, 7, 8}, uint8(30), uint8(0))
	f.Add("abcdefghijklmnopqrstuvwxyz", []byte{3, 2, 1, 4, 5}, uint8(8), uint8(0b10101))
	f.Fuzz(func(t *testing.T, written string, steps []byte, kept, behind uint8) {
		// What repeats within what is kept cannot be told from what stays.
		unique := map[byte]bool{}
		for i := range len(written) {
			if unique[written[i]] {
				t.Skip("repeats")
			}
			unique[written[i]] = true
		}
		var s shown
		seen, last, end := "", "", 0
		for i, step := range steps {
			end = min(end+min(int(step), int(kept)), len(written))
			next := written[max(0, end-int(kept)):end]
			if next == "" {
				continue
			}
			seen += s.next(next)
			// What has little in common may be a machine that was switched on.
			if behind>>(i%8)&1 == 1 && 2*overlap(last, next) > len(last) {
				seen += s.next(last)
			}
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
