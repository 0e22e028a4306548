// SPDX-License-Identifier: Apache-2.0

package consolelog

import "strings"

const (
	// window is how many bytes of an output are kept, to begin with and to be
	// compared with the next one. A machine that writes more between two reads
	// is read with a gap.
	window = 1 << 20
	// maxHeld is how many reads in a row may be taken for older than what was
	// shown. Reads that are behind are so for a moment; a machine that was
	// switched on anew may begin with what it wrote before, and goes on so.
	maxHeld = 2
)

// shown is what of a console was shown, to those who read all of it.
type shown struct {
	last string
	held int
}

// next takes what was read and returns what of it is new.
func (s *shown) next(text string) string {
	if text == "" {
		// Nothing is kept at the moment, which takes nothing back: what is
		// there afterwards may go on from what was there before.
		return ""
	}
	recent := lastWindow(text)
	fresh, older := compare(s.last, recent)
	if older && s.held < maxHeld {
		s.held++
		return ""
	}
	s.held = 0
	s.last = recent
	// A copy, because who does not read it yet would else keep all of the text.
	return strings.Clone(fresh)
}

// lastWindow does not keep the rest of text in memory.
func lastWindow(text string) string {
	if len(text) <= window {
		return text
	}
	return strings.Clone(text[len(text)-window:])
}

// compare returns what was written between two reads of a console that keeps
// the end of its output: what follows in next after the longest end of last
// that next begins with. Without any such overlap it is all of next. Or next is
// the older one of the two, as it seems: last has all of it before its end, or
// most of it at its beginning.
func compare(last, next string) (fresh string, older bool) {
	if strings.HasPrefix(next, last) {
		return next[len(last):], false
	}
	known := overlap(last, next)
	fresh = next[known:]
	if fresh == "" {
		return "", false
	}
	if strings.Contains(last, next) {
		return fresh, true
	}
	most := max(known, len(next)/2)
	return fresh, overlap(next, last) > most
}
