// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestKeysAreDocumented: every label, annotation, finalizer and tag that has a
// meaning is in labels.md.
func TestKeysAreDocumented(t *testing.T) {
	page := read(t, "docs/reference/labels.md")
	kinds := regexp.MustCompile(`^(Label|Annotation|Finalizer|Tag|OrganizationIDsExtra)`)
	documented := 0
	for name, value := range constants(t, "pkg/apis/compute/v1alpha1", "pkg/principal") {
		if !kinds.MatchString(name) {
			continue
		}
		documented++
		if !strings.Contains(page, "`"+value+"`") {
			t.Errorf("%s, %q, is not in labels.md", name, value)
		}
	}
	if documented < 20 {
		t.Errorf("%d keys: they were not found", documented)
	}
}

// constants are the exported texts of packages, by name.
func constants(t *testing.T, folders ...string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, folder := range folders {
		files := token.NewFileSet()
		var parsed []*ast.File
		sources, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, source := range sources {
			if strings.HasSuffix(source, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(files, source, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			parsed = append(parsed, file)
		}
		// What is imported does not matter to these constants, and is not looked up.
		config := types.Config{Error: func(error) {}, Importer: nothing{}}
		checked, _ := config.Check(folder, files, parsed, nil)
		for _, name := range checked.Scope().Names() {
			if text, ok := checked.Scope().Lookup(name).(*types.Const); ok && text.Exported() && text.Val().Kind() == constant.String {
				found[name] = constant.StringVal(text.Val())
			}
		}
	}
	return found
}

// nothing imports empty packages.
type nothing struct{}

func (nothing) Import(path string) (*types.Package, error) {
	empty := types.NewPackage(path, filepath.Base(path))
	empty.MarkComplete()
	return empty, nil
}

var folderRow = regexp.MustCompile("(?m)^\\| (`[^|]*`) \\|")

// TestFolderMapIsTrue: the README names folders that are there, and none is
// missing from it.
func TestFolderMapIsTrue(t *testing.T) {
	_, section, _ := strings.Cut(read(t, "README.md"), "\n## Where things are\n")
	section, _, _ = strings.Cut(section, "\n## ")
	named := map[string]bool{}
	for _, row := range folderRow.FindAllStringSubmatch(section, -1) {
		for folder := range strings.SplitSeq(row[1], ", ") {
			folder = strings.TrimSuffix(strings.Trim(folder, "`"), "/")
			named[folder] = true
			if info, err := os.Stat(filepath.Join(root, folder)); err != nil || !info.IsDir() {
				t.Errorf("the README names the folder %s, which is not there", folder)
			}
		}
	}
	for _, folder := range append(foldersIn(t, "."), foldersIn(t, "pkg")...) {
		covered := named[folder]
		for name := range named {
			covered = covered || strings.HasPrefix(name, folder+"/")
		}
		if !covered {
			t.Errorf("the README does not name the folder %s", folder)
		}
	}
}

func foldersIn(t *testing.T, parent string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(root, parent))
	if err != nil {
		t.Fatal(err)
	}
	var folders []string
	for _, entry := range entries {
		if entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") && entry.Name() != "bin" {
			folders = append(folders, filepath.Join(parent, entry.Name()))
		}
	}
	return folders
}
