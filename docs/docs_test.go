// SPDX-License-Identifier: Apache-2.0

// Package docs_test holds the pages to each other and to what they are about:
// links and citations lead somewhere, tables leave nothing out.
package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = ".."

// walk calls visit with the path, seen from the root, and the content of every
// file of the project with one of the extensions.
func walk(t *testing.T, visit func(path, content string), extensions ...string) {
	t.Helper()
	foreign := []string{".git", ".run", "bin", "node_modules", "testdata"}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && slices.Contains(foreign, entry.Name()) {
			return fs.SkipDir
		}
		if entry.IsDir() || !slices.Contains(extensions, filepath.Ext(path)) {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		visit(relative, string(content))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

var (
	fence   = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
)

// headings are those of a page in Markdown, without the marks.
func headings(page string) []string {
	var found []string
	for _, match := range heading.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
		found = append(found, match[1])
	}
	return found
}

// anchor is what a link to a heading says behind the #.
func anchor(heading string) string {
	kept := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		default:
			return -1
		}
	}, strings.ToLower(heading))
	return kept
}
