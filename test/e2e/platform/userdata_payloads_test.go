// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"strings"
)

// password is in all user data of these specs and must be seen nowhere else.
const password = "correct-horse-battery-staple"

// largest is how many bytes of user data the provider takes.
const largest = 49149

// payload is user data, and what becomes of it without and with an SSH
// certificate authority: what it is refused with, or warned of, or neither.
type payload struct {
	name string
	raw  []byte

	refused, warned               string
	refusedManaged, warnedManaged string
}

func (p payload) refusal(managed bool) string {
	if managed {
		return p.refusedManaged
	}
	return p.refused
}

func (p payload) warning(managed bool) string {
	if managed {
		return p.warnedManaged
	}
	return p.warned
}

// multipart is a message of a part of each kind, under a header.
func multipart(header string) []byte {
	return []byte(strings.ReplaceAll(header+`Content-Type: multipart/mixed; boundary="b"

--b
Content-Type: text/cloud-config

#cloud-config
password: `+password+`
--b
Content-Type: text/x-shellscript

#!/bin/sh
echo `+password+`
--b--
`, "\n", "\r\n"))
}

func compressed(raw string) []byte {
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	_, err := writer.Write([]byte(raw))
	if err == nil {
		err = writer.Close()
	}
	if err != nil {
		panic(err)
	}
	return packed.Bytes()
}

// script is one of so many bytes.
func script(size int) []byte {
	text := "#!/bin/sh\n# " + password
	return []byte(text + strings.Repeat("x", size-len(text)))
}

var payloads = []payload{
	{name: "none", raw: nil, warned: "no way to log in"},
	{
		name: "cloud-config that lets nobody in", raw: []byte("#cloud-config\nusers: []\nfinal_message: " + password + "\n"),
		warned: "gives nobody a way to log in",
	},
	{name: "cloud-config", raw: []byte("#cloud-config\npassword: " + password + "\n")},
	{
		name: "cloud-config that runs commands", raw: []byte("#cloud-config\nruncmd: [echo " + password + "]\n"),
		warnedManaged: "loses its runcmd",
	},
	{name: "a script", raw: []byte("#!/bin/sh\necho " + password + "\n")},
	{
		name: "a script for no interpreter", raw: []byte("#!\necho " + password + "\n"),
		warned: "names no interpreter", warnedManaged: "names no interpreter",
	},
	{name: "MIME", raw: multipart("MIME-Version: 1.0\n")},
	{name: "MIME without a version", raw: multipart(""), warned: "needs a MIME-Version header"},
	{
		name: "MIME that is cut off", raw: bytes.TrimSuffix(multipart("MIME-Version: 1.0\n"), []byte("--b--\r\n")),
		refused: "cannot be read to its end", refusedManaged: "cannot be read to its end",
	},
	{
		name: "a MIME message of one part", raw: []byte("MIME-Version: 1.0\nContent-Type: text/cloud-config\n\n#cloud-config\npassword: " + password + "\n"),
		refused: "single part", refusedManaged: "single part",
	},
	{
		name: "an archive", raw: []byte("#cloud-config-archive\n- type: text/x-shellscript\n  content: |\n    #!/bin/sh\n    echo " + password + "\n"),
		warnedManaged: "labelled text/cloud-config",
	},
	{
		name: "a template", raw: []byte("## template: jinja\n#cloud-config\npassword: " + password + "\n"),
		warnedManaged: "labelled text/jinja",
	},
	{name: "gzip", raw: compressed("#cloud-config\npassword: " + password + "\n"), refusedManaged: "compressed"},
	{name: "gzip that is cut off", raw: compressed("#cloud-config\npassword: " + password + "\n")[:20], warned: "not intact gzip", refusedManaged: "compressed"},
	{
		name: "plain YAML", raw: []byte("password: " + password + "\n"),
		refused: "put a first line #cloud-config before it", refusedManaged: "put a first line #cloud-config before it",
	},
	{name: "plain text", raw: []byte(password), refused: "its first line must start with", refusedManaged: "its first line must start with"},
	{
		name: "a byte order mark", raw: []byte("\ufeff#cloud-config\npassword: " + password + "\n"),
		refused: "byte order mark", refusedManaged: "byte order mark",
	},
	{
		name: "base64 twice", raw: []byte(base64.StdEncoding.EncodeToString([]byte("#cloud-config\npassword: " + password + "\n"))),
		refused: "base64-encoded twice", refusedManaged: "base64-encoded twice",
	},
	{name: "just enough for a machine alone", raw: script(largest), refusedManaged: "with what is added for the SSH certificate authority"},
	{
		name: "more than there is room for", raw: script(largest + 1),
		refused: "takes at most 49149", refusedManaged: "takes at most 49149",
	},
}
