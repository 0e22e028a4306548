// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"encoding/base64"
	"strings"
	"testing"
)

// TestProgramIsQuoted: the README shows the program that is compiled.
func TestProgramIsQuoted(t *testing.T) {
	_, program, found := strings.Cut(read(t, "artifacts/examples/informer/main.go"), "\npackage main\n")
	if !found {
		t.Fatal("the program was not found")
	}
	if !strings.Contains(read(t, "README.md"), "```go\npackage main\n"+program+"```\n") {
		t.Error("the README does not show artifacts/examples/informer/main.go as it is")
	}
}

// TestUserDataIsWhatItsCommentSays: the base64 is that of the lines above it.
func TestUserDataIsWhatItsCommentSays(t *testing.T) {
	var said strings.Builder
	written := ""
	for line := range strings.Lines(read(t, "artifacts/examples/login.yaml")) {
		if text, ok := strings.CutPrefix(line, "#   "); ok {
			said.WriteString(text)
		}
		if text, ok := strings.CutPrefix(line, "  userData: "); ok {
			written = strings.TrimSpace(text)
		}
	}
	decoded, err := base64.StdEncoding.DecodeString(written)
	if err != nil || string(decoded) != said.String() || written == "" {
		t.Errorf("%q is %q, %v, want %q", written, decoded, err, said.String())
	}
}
