// SPDX-License-Identifier: Apache-2.0

package consolelog

import "strings"

// Tail returns the last lines of text. A line ends with a newline, but for the
// last one, which the machine may still be writing.
func Tail(text string, lines int64) string {
	start := len(text)
	if strings.HasSuffix(text, "\n") {
		start--
	}
	for found := int64(0); ; found++ {
		if found >= lines {
			// Past the newline before the first of the lines.
			return text[min(start+1, len(text)):]
		}
		start = strings.LastIndexByte(text[:max(start, 0)], '\n')
		if start < 0 {
			return text
		}
	}
}

// overlap is the length of the longest end of last that next begins with, in
// time linear in both, whatever machines write: the search of Knuth, Morris and
// Pratt for next, carried on to the end of last.
func overlap(last, next string) int {
	last = last[max(0, len(last)-len(next)):]
	// border[i] is the length of the longest proper end of next[:i+1] that next
	// begins with.
	border := make([]int32, len(next))
	for i, matched := 1, int32(0); i < len(next); i++ {
		for matched > 0 && next[i] != next[matched] {
			matched = border[matched-1]
		}
		if next[i] == next[matched] {
			matched++
		}
		border[i] = matched
	}
	matched := int32(0)
	for i := range len(last) {
		for matched > 0 && (int(matched) == len(next) || last[i] != next[matched]) {
			matched = border[matched-1]
		}
		if last[i] == next[matched] {
			matched++
		}
	}
	return int(matched)
}
