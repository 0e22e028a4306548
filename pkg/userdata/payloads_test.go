// SPDX-License-Identifier: Apache-2.0

package userdata_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"slices"
	"strings"
	"testing"
)

func gzipped(t testing.TB, content string) string {
	t.Helper()
	var buffer bytes.Buffer
	writer := gzip.NewWriter(&buffer)
	if _, err := writer.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return buffer.String()
}

// mime joins lines the way mail does.
func mime(lines ...string) string {
	return strings.Join(lines, "\r\n")
}

func base64Of(content string) string {
	return base64.StdEncoding.EncodeToString([]byte(content))
}

var oneBoundary = `Content-Type: multipart/mixed; boundary="b"`

// secret is in user data of the tests wherever it fits; no message may show it.
const secret = "S3cr3tW0rd"

// versioned is the header of a multipart message that guests take for one.
var versioned = mime(oneBoundary, "MIME-Version: 1.0")

// message is a multipart message of the parts, each beginning with its header.
func message(parts ...string) string {
	return mime(append([]string{versioned, ""}, append(bounded("b", parts), "--b--", "")...)...)
}

func bounded(boundary string, parts []string) []string {
	lines := make([]string, 0, 2*len(parts))
	for _, each := range parts {
		lines = append(lines, "--"+boundary, each)
	}
	return lines
}

func typed(contentType, body string) string {
	return mime("Content-Type: "+contentType, "", body)
}

func encoded(encoding, body string) string {
	return mime("Content-Type: text/x-shellscript", "Content-Transfer-Encoding: "+encoding, "", body)
}

var (
	nestedDamaged = mime(`Content-Type: multipart/mixed; boundary="c"`, "", "--c", typed("text/x-shellscript", "#!/bin/sh"), "--c", "", secret)
	nestedFine    = mime(`Content-Type: multipart/mixed; boundary="c"`, "", "--c", typed("text/x-shellscript", "#!/bin/sh"), "--c", "", secret, "--c--")
)

// expect compares warnings by how they begin, and holds each to what all of them
// keep to.
func expect(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.EqualFunc(got, want, strings.HasPrefix) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
	checkTexts(t, got)
}

func checkTexts(t *testing.T, warnings []string) {
	t.Helper()
	if len(warnings) > 8 {
		t.Errorf("%d warnings", len(warnings))
	}
	for _, text := range warnings {
		if text == "" || len(text) > 200 || strings.Contains(text, secret) {
			t.Errorf("a warning is empty, too long or tells a secret: %q", text)
		}
	}
}
