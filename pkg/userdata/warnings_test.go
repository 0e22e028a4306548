// SPDX-License-Identifier: Apache-2.0

package userdata_test

import (
	"strings"
	"testing"

	"github.com/unikorn-cloud/instance-apiserver/pkg/userdata"
)

// guestCases have, for what region takes, what the guest makes of it.
var guestCases = []struct {
	name, raw string
	// a beginning of each warning, in order.
	unmanaged, managed []string
}{
	{name: "nothing"},
	{name: "cloud-config", raw: "#cloud-config\npassword: " + secret + "\n"},
	{name: "cloud-config in a longer word", raw: "#cloud-configfoo\nx: 1\n"},
	{name: "cloud-config with CRLF", raw: "#cloud-config\r\nx: 1\r\n"},
	{name: "cloud-config after spaces", raw: "  #cloud-config\nx: 1\n"},
	{name: "cloud-config without content", raw: "#cloud-config\n"},
	{name: "cloud-config of null", raw: "#cloud-config\n---\n~\n"},
	{
		name: "cloud-config with keys of the authority's", raw: "#cloud-config\nwrite_files: []\nx: runcmd\nruncmd: [" + secret + "]\n",
		managed: []string{"user data loses its write_files and runcmd: with an SSH certificate authority"},
	},
	{
		name: "part with a key of the authority's", raw: message(typed("text/cloud-config", "x: 1"), typed("text/cloud-config", "runcmd: []")),
		managed: []string{"part 2 loses its runcmd: with an SSH certificate authority"},
	},
	{
		name: "cloud-config that is not YAML", raw: "#cloud-config\n[}" + secret,
		unmanaged: []string{"user data fails in the guest: it is not a single, valid YAML"},
		managed:   []string{"user data fails in the guest: it is not a single, valid YAML"},
	},
	{
		name: "cloud-config of two documents", raw: "#cloud-config\nx: 1\n---\ny: 2\n",
		unmanaged: []string{"user data fails in the guest: it is not a single, valid YAML"},
		managed:   []string{"user data fails in the guest: it is not a single, valid YAML"},
	},
	{
		name: "cloud-config that is a list", raw: "#cloud-config\n- " + secret + "\n",
		unmanaged: []string{"user data fails in the guest: cloud-config must be a YAML mapping"},
		managed:   []string{"user data fails in the guest: cloud-config must be a YAML mapping"},
	},
	{
		name: "cloud-config that is a word", raw: "#cloud-config\n" + secret + "\n",
		unmanaged: []string{"user data fails in the guest: cloud-config must be a YAML mapping"},
		managed:   []string{"user data fails in the guest: cloud-config must be a YAML mapping"},
	},
	{
		name: "archive", raw: "#cloud-config-archive\n- content: " + secret + "\n",
		managed: []string{"user data does not work with an SSH certificate authority: it reaches cloud-init labelled text/cloud-config; send it as a part of type text/cloud-config-archive"},
	},
	{
		name: "archive that is a mapping", raw: "#cloud-config-archive\nx: 1\n",
		unmanaged: []string{"user data has no effect: a cloud-config archive must be a YAML list"},
		managed:   []string{"user data does not work", "user data has no effect"},
	},
	{
		name: "jsonp", raw: "#cloud-config-jsonp\n[]\n",
		managed: []string{"user data does not work with an SSH certificate authority: it reaches cloud-init labelled text/cloud-config; send it as a part of type text/cloud-config-jsonp"},
	},
	{name: "include", raw: "#include\nhttps://example.com/" + secret + "\n"},
	{name: "include in a longer word", raw: "#includefoo\nhttps://example.com\n"},
	{name: "include once", raw: "#include-once\nhttps://example.com\n"},
	{name: "boothook", raw: "#cloud-boothook\n#!/bin/sh\n"},
	{name: "part handler", raw: "#part-handler\n"},
	{name: "script", raw: "#!/bin/sh\necho " + secret + "\n"},
	{name: "script with CRLF", raw: "#!/bin/sh\r\ntrue\r\n"},
	{
		name: "script that is not UTF-8", raw: "#!/bin/sh\n\xff\n",
		unmanaged: []string{"user data fails in the guest: cloud-init cannot write a script that is not UTF-8"},
		managed:   []string{"user data is not UTF-8: with an SSH certificate authority, cloud-init can read neither"},
	},
	{
		name: "script without an interpreter", raw: "#! \ntrue\n",
		unmanaged: []string{"user data fails in the guest: the first line of the script names no interpreter"},
		managed:   []string{"user data fails in the guest: the first line of the script names no interpreter"},
	},
	{
		name: "script after a space", raw: " #!/bin/sh\ntrue\n",
		unmanaged: []string{"user data fails in the guest: a script must begin with #!"},
		managed:   []string{"user data fails in the guest: a script must begin with #!"},
	},
	{
		name: "script after a tab", raw: "\t#!/bin/sh\ntrue\n",
		unmanaged: []string{"user data fails in the guest: a script must begin with #!"},
		managed:   []string{"user data fails in the guest: a script must begin with #!"},
	},
	{
		name: "template of cloud-config", raw: "## template: jinja\n#cloud-config\nx: {{ y }}\n",
		managed: []string{"user data does not work with an SSH certificate authority: it reaches cloud-init labelled text/jinja; send it as a part of type text/jinja2"},
	},
	{
		name: "template of a script", raw: "## template: jinja\n#!/bin/sh\n",
		managed: []string{"user data does not work"},
	},
	{
		name: "template that begins with an expression", raw: "## template: jinja\n{% if x %}#cloud-config{% endif %}\n",
		managed: []string{"user data does not work"},
	},
	{
		name: "template of nothing", raw: "## template: jinja",
		unmanaged: []string{"user data is ignored by cloud-init: after its first line, a template must go on with"},
		managed:   []string{"user data does not work", "user data is ignored by cloud-init: after its first line"},
	},
	{
		name: "template of an archive", raw: "## template: jinja\n#cloud-config-archive\n",
		unmanaged: []string{"user data is ignored by cloud-init: after its first line, a template must go on with"},
		managed:   []string{"user data does not work", "user data is ignored by cloud-init: after its first line"},
	},
	{
		name: "template with a renderer of another version", raw: "## template: jinja2\n#cloud-config\n",
		unmanaged: []string{"user data is ignored by cloud-init: the first line of a template must be ## template: jinja and nothing else"},
		managed:   []string{"user data does not work", "user data is ignored by cloud-init: the first line of a template"},
	},
	{
		name: "template with an unknown renderer", raw: "## template: jinjafoo " + secret + "\n#cloud-config\n",
		unmanaged: []string{"user data is ignored by cloud-init: the first line of a template"},
		managed:   []string{"user data does not work", "user data is ignored by cloud-init: the first line of a template"},
	},
	{
		name: "template after a space", raw: " ## template: jinja\n#cloud-config\n",
		unmanaged: []string{"user data is ignored by cloud-init: the first line of a template"},
		managed:   []string{"user data does not work", "user data is ignored by cloud-init: the first line of a template"},
	},

	{name: "multipart", raw: message(typed("text/x-shellscript", "#!/bin/sh"), typed(`Text/Cloud-Config; charset="us-ascii"`, "x: 1"))},
	{
		name: "multipart without a version", raw: mime(oneBoundary, "", "--b", typed("text/x-shellscript", "#!/bin/sh "+secret), "--b--"),
		unmanaged: []string{"user data is ignored by cloud-init, all of it: a multipart message needs a MIME-Version header"},
	},
	{
		name: "multipart with a late version",
		raw: mime("X-Filler: "+strings.Repeat("x", 4096), oneBoundary, "MIME-Version: 1.0", "",
			"--b", typed("text/x-shellscript", "#!/bin/sh"), "--b--"),
		unmanaged: []string{"user data is ignored by cloud-init, all of it: a multipart message needs a MIME-Version header"},
	},
	{name: "multipart with a version in capitals, first", raw: mime("MIME-VERSION: 1.0", oneBoundary, "", "--b", typed("text/x-shellscript", "#!/bin/sh"), "--b--")},
	{name: "multipart of another subtype", raw: mime("MIME-Version: 1.0", "Content-Type: multipart/digest; boundary=b", "", "--b", typed("text/x-shellscript", "#!/bin/sh"), "--b--")},
	{name: "multipart after an mbox line", raw: mime("From alice Thu Jan  1 00:00:00 2026", versioned, "", "--b", typed("text/x-shellscript", "#!/bin/sh"), "--b--")},
	{
		name: "multipart without parts", raw: mime(versioned, "", "--b--"),
		unmanaged: []string{"user data has no effect: the multipart message has no parts"},
		managed:   []string{"user data has no effect: the multipart message has no parts"},
	},
	{
		name: "multipart whose boundary never occurs", raw: mime(versioned, "", secret),
		unmanaged: []string{"user data has no effect: the multipart message has no parts, or its boundary never occurs"},
		managed:   []string{"user data has no effect: the multipart message has no parts, or its boundary never occurs"},
	},
	{
		name: "multipart without a body", raw: mime(versioned, "", ""),
		unmanaged: []string{"user data has no effect"},
		managed:   []string{"user data has no effect"},
	},
	{name: "part without a type", raw: message(mime("", "#cloud-config", "x: 1"))},
	{name: "part without content", raw: message(typed("text/plain", ""))},
	{
		name: "part of text that is nothing", raw: message(typed("text/plain", secret), typed("text/x-shellscript", "#!/bin/sh")),
		unmanaged: []string{"part 1 is ignored by cloud-init: it begins with nothing that cloud-init knows"},
		managed:   []string{"part 1 is ignored by cloud-init: it begins with nothing that cloud-init knows"},
	},
	{
		name: "part whose type is unknown", raw: message(typed("text/x-shellscript", "#!/bin/sh"), typed("application/"+secret, "x")),
		unmanaged: []string{"part 2 is ignored by cloud-init: its content type is none that cloud-init knows"},
		managed:   []string{"part 2 is ignored by cloud-init: its content type is none that cloud-init knows"},
	},
	{name: "part whose type an earlier part handles", raw: message(typed("text/part-handler", "#part-handler"), typed("text/x-mine", "x"))},
	{name: "part that is a script for every boot", raw: message(typed("text/x-shellscript-per-boot", "#!/bin/sh"))},
	{name: "part labelled script that is cloud-config", raw: message(typed("text/x-shellscript", "#cloud-config\nx: 1"))},
	{name: "part that is an archive", raw: message(typed("text/cloud-config-archive", "- x"))},
	{name: "part that is a template", raw: message(typed("text/jinja2", "## template: jinja\n#cloud-config\n"))},
	{
		name: "part labelled script that is none", raw: message(typed("text/x-shellscript", secret)),
		unmanaged: []string{"part 1 fails in the guest: a script must begin with #!"},
		managed:   []string{"part 1 fails in the guest: a script must begin with #!"},
	},
	{
		name: "part that is invalid cloud-config", raw: message(typed("text/cloud-config", "["+secret)),
		unmanaged: []string{"part 1 fails in the guest: it is not a single, valid YAML document"},
		managed:   []string{"part 1 fails in the guest: it is not a single, valid YAML document"},
	},
	{name: "nested multipart", raw: message(nestedFine), unmanaged: []string{"part 1.2 is ignored"}, managed: []string{"part 1.2 is ignored"}},
	{
		name: "nested multipart that is damaged", raw: message(nestedDamaged),
		unmanaged: []string{"part 1 is a damaged multipart message: cloud-init may lose it from its part 2 on"},
		managed:   []string{"part 1 is a damaged multipart message: cloud-init may lose it from its part 2 on"},
	},
	{
		name: "nested multipart without a boundary", raw: message(typed("multipart/mixed", secret)),
		unmanaged: []string{"part 1 is ignored by cloud-init: it is a multipart message without a boundary"},
		managed:   []string{"part 1 is ignored by cloud-init: it is a multipart message without a boundary"},
	},
	{name: "part in base64", raw: message(encoded("base64", "IyEvYmlu\r\nL3NoCg=="))},
	{name: "part in base64 without padding", raw: message(encoded("base64", "IyEvYmluL3NoCg"))},
	{
		name: "part in broken base64", raw: message(encoded("BASE64", "#!/bin/sh")),
		unmanaged: []string{"part 1 is garbled in the guest: it is not the base64"},
		managed:   []string{"part 1 is garbled in the guest: it is not the base64"},
	},
	{name: "part in quoted-printable", raw: message(encoded("quoted-printable", "#!/bin/sh=0Aecho =\r\n"+secret))},
	{
		name: "part in broken quoted-printable", raw: message(encoded("quoted-printable", "#!/bin/sh a=b")),
		unmanaged: []string{"part 1 is garbled in the guest: it is not the quoted-printable"},
		managed:   []string{"part 1 is garbled in the guest: it is not the quoted-printable"},
	},
	{
		name: "part that is not UTF-8", raw: message(typed("text/x-shellscript", "#!/bin/sh\n\xff")),
		unmanaged: []string{"user data is ignored by cloud-init, all of it: it is not UTF-8"},
		managed:   []string{"user data is not UTF-8: with an SSH certificate authority"},
	},
	{
		name: "part that is not UTF-8 once decoded", raw: message(encoded("quoted-printable", "#!/bin/sh=0A=FF")),
		unmanaged: []string{"part 1 fails in the guest: cloud-init cannot write a script that is not UTF-8"},
		managed:   []string{"user data is not UTF-8: with an SSH certificate authority"},
	},
	{
		name: "part that is not gzip", raw: message(typed("application/gzip", secret)),
		unmanaged: []string{"part 1 is not intact gzip"},
		managed:   []string{"part 1 is not intact gzip"},
	},
}

func TestWarnings(t *testing.T) {
	for _, test := range guestCases {
		t.Run(test.name, func(t *testing.T) {
			expect(t, "unmanaged", userdata.Warnings([]byte(test.raw)), test.unmanaged)
			expect(t, "managed", userdata.WarningsManaged([]byte(test.raw)), test.managed)
			// Whatever there is to say, region takes it.
			if err := userdata.CheckManaged([]byte(test.raw)); err != nil {
				t.Errorf("no case for warnings: %v", err)
			}
		})
	}
}
