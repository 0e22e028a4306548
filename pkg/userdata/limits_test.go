// SPDX-License-Identifier: Apache-2.0

package userdata_test

import (
	"strings"
	"testing"

	"github.com/unikorn-cloud/instance-apiserver/pkg/userdata"
)

func TestWarningsOfGzip(t *testing.T) {
	whole := gzipped(t, "#cloud-config\npassword: "+secret+"\n")
	for name, test := range map[string]struct {
		raw  string
		want []string
	}{
		"of cloud-config":     {raw: whole},
		"of a script":         {raw: gzipped(t, "#!/bin/sh\n")},
		"of nothing":          {raw: gzipped(t, "")},
		"of a single part":    {raw: gzipped(t, mime("MIME-Version: 1.0", "Content-Type: text/cloud-config", "", "x: 1"))},
		"of capitals":         {raw: gzipped(t, "\n#CLOUD-CONFIG\nx: 1\n")},
		"of a lax template":   {raw: gzipped(t, "##template:jinja\n#cloud-config\n")},
		"of multipart":        {raw: gzipped(t, message(typed("text/plain", "#!/bin/sh")))},
		"of text":             {gzipped(t, secret), []string{"decompressed user data is ignored by cloud-init: it begins with nothing"}},
		"of bad cloud-config": {gzipped(t, "#cloud-config\n- x"), []string{"decompressed user data fails in the guest: cloud-config must be"}},
		"of unversioned mime": {gzipped(t, mime(oneBoundary, "", "--b", "", "#!/bin/sh", "--b--")), []string{"decompressed user data is ignored by cloud-init, all of it"}},
		"of a bad part":       {gzipped(t, message(typed("text/plain", secret))), []string{"part 1 is ignored"}},
		"of gzip":             {gzipped(t, whole), []string{"decompressed user data is ignored by cloud-init: it begins with nothing"}},
		"cut off":             {whole[:len(whole)-9], []string{"user data is not intact gzip"}},
		"with a wrong sum":    {whole[:len(whole)-8] + "xxxx" + whole[len(whole)-4:], []string{"user data is not intact gzip"}},
		"without content":     {"\x1f\x8b", []string{"user data is not intact gzip"}},
		"of too much YAML":    {gzipped(t, "#cloud-config\n"+strings.Repeat("x: 1\n", 50<<10)), []string{"decompressed user data was not examined: there are more than 131072 bytes of YAML"}},
		"that explodes":       {gzipped(t, strings.Repeat("\x00", 32<<20)), []string{"user data was not examined: more than 1048576 bytes come out"}},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, "unmanaged", userdata.Warnings([]byte(test.raw)), test.want)
			expect(t, "refused", userdata.WarningsManaged([]byte(test.raw)), nil)
		})
	}
}

// TestWarningsAreFew has more problems than are told, and parts that explode
// only together.
func TestWarningsAreFew(t *testing.T) {
	parts := make([]string, 20)
	for i := range parts {
		parts[i] = typed("text/plain", secret)
	}
	got := userdata.Warnings([]byte(message(parts...)))
	if len(got) != 8 || !strings.HasSuffix(got[7], "more problems than are listed here") {
		t.Errorf("%d warnings, the last %q", len(got), got[len(got)-1])
	}

	half := mime("Content-Type: application/gzip", "Content-Transfer-Encoding: base64", "",
		base64Of(gzipped(t, "#!/bin/sh\n"+strings.Repeat("x", 600<<10))))
	expect(t, "explosion", userdata.Warnings([]byte(message(half, half))), []string{"part 2 was not examined: more than 1048576 bytes"})

	yaml := mime("Content-Type: application/gzip", "Content-Transfer-Encoding: base64", "",
		base64Of(gzipped(t, "#cloud-config\n"+strings.Repeat("x: 1\n", 20<<10))))
	expect(t, "YAML", userdata.Warnings([]byte(message(yaml, yaml))), []string{"decompressed part 2 was not examined: there are more than 131072 bytes"})

	deep := typed("text/plain", secret)
	for _, boundary := range strings.Split("jihgfedc", "") {
		deep = mime("Content-Type: multipart/mixed; boundary="+boundary, "", "--"+boundary, deep, "--"+boundary+"--")
	}
	expect(t, "depth", userdata.Warnings([]byte(message(deep))), []string{"part 1.1.1.1.1.1.1.1 was not examined: it is nested too deeply"})
}

func TestNoWarningsOfWhatIsRefused(t *testing.T) {
	for _, raw := range []string{secret, mime(versioned, "", "--b", "", "x"), "#cloud-config\n- " + strings.Repeat("x", userdata.MaxSize)} {
		expect(t, "unmanaged", userdata.Warnings([]byte(raw)), nil)
		expect(t, "managed", userdata.WarningsManaged([]byte(raw)), nil)
	}
}
