// SPDX-License-Identifier: Apache-2.0

// Command manifests checks that every document of YAML files is an object of a
// kind that it knows, without a field that the kind does not have, given twice
// or of the wrong type. The API server would ignore some of these mistakes.
//
// Usage: manifests FILE...
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

func main() {
	failed := false
	for _, file := range os.Args[1:] {
		if err := checkFile(file); err != nil {
			fmt.Fprintf(os.Stderr, "%s:\n%v\n", file, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

func checkFile(file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return check(content)
}

// check returns what is wrong with the documents of content, and an error if
// there are none.
func check(content []byte) error {
	var failures []error
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	count := 0
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		count++
		if err := checkDocument(document); err != nil {
			failures = append(failures, fmt.Errorf("  document %d: %w", count, err))
		}
	}
	if count == 0 {
		return errors.New("  no documents")
	}
	return errors.Join(failures...)
}
