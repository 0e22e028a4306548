// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	storagetesting "k8s.io/apiserver/pkg/storage/testing"
)

// leftOut are the functions of the suite that do not run here, and why.
var leftOut = map[string]string{
	// Not there at a host.
	"RunTestCreateWithTTL":           "objects do not expire: custom resources cannot",
	"RunTestGuaranteedUpdateWithTTL": "objects do not expire: custom resources cannot",
	"RunTestCompactRevision":         "the host does not tell what was compacted; that older versions then answer Expired is in RunTestList",
	"RunTestKeySchema":               "stores objects without name under keys of any depth; a custom resource has a name and at most a namespace. Keys are tested in package crbacked",

	// They make the transformer fail that etcd's storage reads through, and
	// want errors for it. Here a corrupt object is withheld, and lists and
	// watches go on: tested in corrupt_test.go.
	"RunTestGetListWithErrorAggregation":      "wants a list with a corrupt object to fail, with all of them in the error",
	"RunTestGetListWithoutErrorAggregation":   "wants a list with a corrupt object to fail",
	"RunTestTransformationFailure":            "wants a list with a corrupt object to fail, and ordinary deletion of one to be refused",
	"RunTestWatchError":                       "wants a watch to end with an error at a corrupt object",
	"RunWatchErrorIsBlockingFurtherEvents":    "wants a watch to end with an error at a corrupt object",
	"RunTestWatchWithUnsafeDelete":            "wants ordinary deletion of a corrupt object to be refused, and a watch to end with an error",
	"RunTestGuaranteedUpdateChecksStoredData": "wants an update that changes nothing to be written if the stored bytes are stale, which to the host they never are",
}

// TestSuiteIsComplete fails when a release of the library brings a function
// that nobody decided about.
func TestSuiteIsComplete(t *testing.T) {
	known := map[string]bool{}
	for _, group := range []map[string]test{anyLayout, ownLayout, clusterLayout, uncachedLayout} {
		for name := range group {
			known[name] = true
		}
	}
	for name := range leftOut {
		if known[name] {
			t.Errorf("%s runs and is left out", name)
		}
		known[name] = true
	}
	for _, name := range suiteFunctions(t) {
		if !known[name] {
			t.Errorf("%s neither runs nor is left out", name)
		}
		delete(known, name)
	}
	for name := range known {
		t.Errorf("%s is not in the suite", name)
	}
}

// suiteFunctions are the names of the suite's functions that take a storage.
func suiteFunctions(t *testing.T) []string {
	t.Helper()
	file, _ := runtime.FuncForPC(reflect.ValueOf(storagetesting.RunTestCreate).Pointer()).FileLine(0)
	files, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*_tests.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("find the suite's source beside %s: %v", file, err)
	}
	var names []string
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range parsed.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			if ok && function.Recv == nil && strings.HasPrefix(function.Name.Name, "Run") {
				names = append(names, function.Name.Name)
			}
		}
	}
	return names
}
