// SPDX-License-Identifier: Apache-2.0

package userdata_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/unikorn-cloud/instance-apiserver/pkg/userdata"
)

// TestRemedies has what is refused, why, and what the refusal says.
func TestRemedies(t *testing.T) {
	unknown, multipart := userdata.ErrUnknownFormat, userdata.ErrMultipart
	for _, test := range []struct {
		name, raw string
		err       error
		want      string
	}{
		{"byte order mark", "\ufeff#cloud-config\n", unknown, "byte order mark"},
		{"UTF-16, little end first", "\xff\xfe#\x00c\x00", unknown, "UTF-16"},
		{"UTF-16, big end first", "\xfe\xff\x00#\x00c", unknown, "UTF-16"},
		{"UTF-16 without a mark", "#\x00c\x00l\x00", unknown, "UTF-16"},
		{"UTF-16 without a mark, big end first", "\x00#\x00c\x00l", unknown, "UTF-16"},
		{"base64 twice", base64Of("#cloud-config\nx: " + secret), unknown, "base64-encoded twice"},
		{"base64 twice, in lines", "I2Nsb3Vk\nLWNvbmZpZwo=\n", unknown, "base64-encoded twice"},
		{"base64 twice, of gzip", base64Of(gzipped(t, secret)), unknown, "base64-encoded twice"},
		{"blank line first", "\n\n#cloud-config\n", unknown, "blank lines or spaces"},
		{"multipart after a blank line", mime("", versioned, "", "--b", "", "x", "--b--"), unknown, "blank lines or spaces"},
		{"template without its spaces", "##template:jinja\n#cloud-config\n", unknown, "exactly so"},
		{"template in capitals", "## Template: Jinja\n#cloud-config\n", unknown, "exactly so"},
		{"cloud-config in capitals", "#Cloud-Config\npassword: " + secret, unknown, "small letters"},
		{"upstart job", "#upstart-job\n" + secret, unknown, "upstart jobs"},
		{"single part", mime("Content-Type: text/cloud-config", "MIME-Version: 1.0", "X-Secret: "+secret, "", "#cloud-config"), unknown, "single part"},
		{"JSON", `{"password": "` + secret + `"}`, unknown, "it is JSON"},
		{"YAML without a header", "packages: [curl]\npassword: " + secret, unknown, "looks like YAML"},
		{"text", secret, unknown, "its first line must start with one of ## template: jinja, #cloud-config, #!,"},
		{"list", "- " + secret, unknown, "its first line must start with"},
		{"binary", "\x7fELF\x01" + secret, unknown, "its first line must start with"},
		{"binary that begins with zero", "\x00\x01\x02\x03", unknown, "its first line must start with"},
		{"spaces only", " \n\t", unknown, "blank lines or spaces"},

		{"multipart without an end", mime(versioned, "", "--b", "", secret), multipart, "part 1 cannot be read to its end"},
		{"multipart without an end of its second part", mime(versioned, "", "--b", "", secret, "--b", "", secret), multipart, "part 2 cannot be read to its end"},
		{"multipart with a line for a part's header", mime(versioned, "", "--b", secret, "", "--b--"), multipart, "part 1 cannot be read"},
		{"multipart after a space", mime(" "+versioned, "", "--b", "", "x", "--b--"), multipart, "must begin with the first byte"},
		{"multipart with a line for a header", mime(oneBoundary, secret, "", "--b", "", "x", "--b--"), multipart, "its header cannot be read"},
		{"multipart with a malformed type", mime("Content-Type: multipart/mixed; "+secret, "", "--b", "", "x", "--b--"), multipart, "its content type cannot be read"},
		{"multipart without a boundary", mime("Content-Type: multipart/mixed", "", "--b", "", "x", "--b--"), multipart, "has no boundary"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, check := range []func([]byte) error{userdata.Check, userdata.CheckManaged} {
				err := check([]byte(test.raw))
				if !errors.Is(err, test.err) || !strings.Contains(err.Error(), test.want) {
					t.Errorf("got %v, want %q", err, test.want)
				}
				if err != nil && strings.Contains(err.Error(), secret) {
					t.Errorf("%v tells a secret", err)
				}
			}
		})
	}
}
