// SPDX-License-Identifier: Apache-2.0

package userdata_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/unikorn-cloud/instance-apiserver/pkg/userdata"
)

var cases = []struct {
	name string
	raw  string
	// what an unmanaged server takes; a managed one takes the same but gzip.
	accepted bool
}{
	{"nothing", "", true},
	{"cloud-config", "#cloud-config\npackages: [curl]\n", true},
	{"cloud-config with CRLF", "#cloud-config\r\npackages: [curl]\r\n", true},
	{"cloud-config with trailing spaces", "#cloud-config \t \nx: 1", true},
	{"cloud-config after spaces and tabs", " \t#cloud-config\nx: 1", true},
	{"cloud-config after a Unicode space", "\u00a0#cloud-config\nx: 1", true},
	{"a longer word than cloud-config", "#cloud-configfoo\n", true},
	{"invalid YAML behind the header", "#cloud-config\n[}", true},
	{"archive", "#cloud-config-archive\n- content: x\n", true},
	{"jsonp", "#cloud-config-jsonp\n[]\n", true},
	{"script", "#!/bin/sh\ntrue\n", true},
	{"bare shebang", "#!", true},
	{"boothook", "#cloud-boothook\ntrue\n", true},
	{"include", "#include\nhttps://example.com\n", true},
	{"a longer word than include", "#includefoo\n", true},
	{"include once", "#include-once\nhttps://example.com\n", true},
	{"part handler", "#part-handler\n", true},
	{"jinja template", "## template: jinja\n#cloud-config\n", true},
	{"jinja template with an unknown renderer", "## template: jinjafoo\n", true},
	{"jinja template without its spaces", "##template: jinja\n#cloud-config\n", false},
	{"jinja template without its second space", "## template:jinja\n#cloud-config\n", false},
	{"jinja template in capitals", "## Template: Jinja\n#cloud-config\n", false},
	{"cloud-config in capitals", "#Cloud-Config\n", false},
	{"blank line first", "\n#cloud-config\n", false},
	{"byte order mark first", "\ufeff#cloud-config\n", false},
	{"UTF-16", "\xff\xfe#\x00c\x00l\x00o\x00u\x00d\x00", false},
	{"upstart job", "#upstart-job\n", false},
	{"plain YAML", "packages: [curl]\n", false},
	{"plain text", "hello", false},
	{"JSON", `{"packages": []}`, false},
	{"base64 twice", "I2Nsb3VkLWNvbmZpZwo=", false},
	{"not even UTF-8", "\xc3\x28\x00", false},
	{"half the gzip magic", "\x1f", false},

	{"multipart", mime(oneBoundary, "MIME-Version: 1.0", "", "--b", "Content-Type: text/x-shellscript", "", "#!/bin/sh", "--b--", ""), true},
	{"multipart without a version", mime(oneBoundary, "", "--b", "", "x", "--b--"), true},
	{"multipart with the version first", mime("MIME-Version: 1.0", oneBoundary, "", "--b", "", "x", "--b--"), true},
	{"multipart with LF only", oneBoundary + "\n\n--b\n\nx\n--b--\n", true},
	{"multipart in capitals", mime(strings.ToUpper(`Content-Type: multipart/mixed; `)+`boundary=b`, "", "--b", "", "x", "--b--"), true},
	{"multipart without a space", mime(`Content-Type:multipart/mixed; boundary=b`, "", "--b", "", "x", "--b--"), true},
	{"multipart with a folded header", mime("Content-Type: multipart/mixed;", " boundary=b", "", "--b", "", "x", "--b--"), true},
	{"multipart of another subtype", mime(`Content-Type: multipart/alternative; boundary=b`, "", "--b", "", "x", "--b--"), true},
	{"multipart whose parts are anything", mime(oneBoundary, "", "--b", "Content-Type: image/png", "Content-Transfer-Encoding: base64", "", "!!", "--b--"), true},
	{"multipart with broken quoted-printable", mime(oneBoundary, "", "--b", "Content-Transfer-Encoding: quoted-printable", "", "=ZZ", "--b--"), true},
	{"multipart with quoted-printable that cannot be decoded", mime(oneBoundary, "", "--b", "Content-Transfer-Encoding: quoted-printable", "", "\x01", "--b--"), false},
	{"multipart without parts", mime(oneBoundary, "", "--b--"), true},
	{"multipart whose boundary never occurs", mime(oneBoundary, "", "hello"), true},
	{"multipart without a body", mime(oneBoundary, "", ""), true},
	{"multipart nested in multipart", mime(oneBoundary, "", "--b", `Content-Type: multipart/mixed; boundary="c"`, "", "--c", "", "x", "--b--"), true},
	{"multipart after an mbox line", mime("From alice Thu Jan  1 00:00:00 2026", oneBoundary, "", "--b", "", "x", "--b--"), true},
	{"multipart without its end", mime(oneBoundary, "", "--b", "", "x"), false},
	{"multipart without a boundary", mime("Content-Type: multipart/mixed", "", "--b", "", "x", "--b--"), false},
	{"multipart with an empty boundary", mime(`Content-Type: multipart/mixed; boundary=""`, "", "--b", "", "x", "--b--"), false},
	{"multipart with a malformed type", mime("Content-Type: multipart/mixed; boundary", "", "--b", "", "x", "--b--"), false},
	{"multipart after a space", mime(" "+oneBoundary, "", "--b", "", "x", "--b--"), false},
	{"multipart that is all header", oneBoundary, true},
	{"single part mail", mime("Content-Type: text/cloud-config", "MIME-Version: 1.0", "", "#cloud-config"), false},
	{"two types, the first not multipart", mime("Content-Type: text/plain", oneBoundary, "", "--b", "", "x", "--b--"), false},
}

func TestCheck(t *testing.T) {
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			if err := userdata.Check([]byte(test.raw)); (err == nil) != test.accepted {
				t.Errorf("unmanaged: %v", err)
			}
			if err := userdata.CheckManaged([]byte(test.raw)); (err == nil) != test.accepted {
				t.Errorf("managed: %v", err)
			}
		})
	}
}

func TestGzip(t *testing.T) {
	for name, raw := range map[string]string{
		"of cloud-config": gzipped(t, "#cloud-config\n"), "of anything": gzipped(t, "hello"), "corrupt": "\x1f\x8bxx", "magic only": "\x1f\x8b",
	} {
		t.Run(name, func(t *testing.T) {
			if err := userdata.Check([]byte(raw)); err != nil {
				t.Errorf("unmanaged: %v", err)
			}
			if err := userdata.CheckManaged([]byte(raw)); !errors.Is(err, userdata.ErrGzip) {
				t.Errorf("managed: %v", err)
			}
		})
	}
}
