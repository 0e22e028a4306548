// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"testing"
)

func TestPageIsCurrent(t *testing.T) {
	var page bytes.Buffer
	if err := write(&page); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile("../../docs/reference/flags.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(page.Bytes(), written) {
		t.Error(`docs/reference/flags.md is not what the programs say of their flags: run "make generate"`)
	}
}
