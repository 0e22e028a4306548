// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

func TestLinksLeadSomewhere(t *testing.T) {
	walk(t, func(path, content string) {
		for _, match := range link.FindAllStringSubmatch(fence.ReplaceAllString(content, ""), -1) {
			target, part, _ := strings.Cut(match[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			file := filepath.Join(filepath.Dir(path), target)
			if target == "" {
				file = path
			}
			if _, err := os.Stat(filepath.Join(root, file)); err != nil {
				t.Errorf("%s links to %s, which is not there", path, match[1])
				continue
			}
			if part != "" && !slices.ContainsFunc(headings(read(t, file)), func(h string) bool { return anchor(h) == part }) {
				t.Errorf("%s links to %s, which has no such heading", path, match[1])
			}
		}
	}, ".md")
}

var (
	// lineBreak is one in a comment, which may be in the midst of a citation.
	lineBreak = regexp.MustCompile(`\n\s*(//|#)?\s*`)
	citation  = regexp.MustCompile(`docs/reference/wire\.md, ("[^"]+"(?:(?:,| and|, and) "[^"]+")*)`)
	quoted    = regexp.MustCompile(`"([^"]+)"`)
)

// TestCitationsLeadSomewhere: what code and descriptions cite of wire.md has a
// heading there.
func TestCitationsLeadSomewhere(t *testing.T) {
	sections := headings(read(t, "docs/reference/wire.md"))
	cited := 0
	walk(t, func(path, content string) {
		for _, match := range citation.FindAllStringSubmatch(lineBreak.ReplaceAllString(content, " "), -1) {
			for _, section := range quoted.FindAllStringSubmatch(match[1], -1) {
				cited++
				if !slices.Contains(sections, section[1]) {
					t.Errorf("%s cites %q of wire.md, which has no such section", path, section[1])
				}
			}
		}
	}, ".go", ".yaml", ".sh")
	if cited < 20 {
		t.Errorf("%d citations: they were not found", cited)
	}
}
