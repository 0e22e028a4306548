// SPDX-License-Identifier: Apache-2.0

package userdata

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"mime"
	"net/mail"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// remedy says what is wrong with user data in an unknown format, and what to do
// about it.
func remedy(raw []byte) string {
	trimmed := bytes.TrimLeftFunc(raw, unicode.IsSpace)
	switch {
	case bytes.HasPrefix(raw, []byte("\ufeff")):
		return "it begins with a byte order mark; save it as UTF-8 without one"
	case isUTF16(raw):
		return "it is UTF-16; save it as UTF-8"
	case isEncodedTwice(raw):
		return "it was base64-encoded twice; encode it once"
	case len(trimmed) < len(raw) && verdict(trimmed) == nil:
		return "it begins with blank lines or spaces; remove them"
	case templateLine.Match(trimmed):
		return "a template must begin with ## template: jinja, written exactly so"
	case labelOf(strings.ToLower(firstLine(raw)), regionFormats) != "":
		return "the keyword in its first line must be in small letters"
	case strings.HasPrefix(firstLine(raw), "#upstart-job"):
		return "guests do not run upstart jobs any more; write a script or cloud-config"
	case isSinglePart(raw):
		return "it is a message of a single part; send the content of the part alone, or as a part of a multipart message"
	case isJSONObject(raw):
		return "it is JSON; if it is meant as cloud-config, put a first line #cloud-config before it"
	case isMapping(raw):
		return "it looks like YAML; if it is meant as cloud-config, put a first line #cloud-config before it"
	}
	beginnings := make([]string, 0, len(regionFormats))
	for _, known := range regionFormats {
		beginnings = append(beginnings, known.beginning)
	}
	return "its first line must start with one of " + strings.Join(beginnings, ", ") +
		", or it must be a multipart message or compressed with gzip"
}

// isUTF16 goes by the byte order mark or, without one, by the empty halves of
// the first two characters.
func isUTF16(raw []byte) bool {
	if bytes.HasPrefix(raw, []byte("\xff\xfe")) || bytes.HasPrefix(raw, []byte("\xfe\xff")) {
		return true
	}
	return len(raw) >= 4 && raw[0] == 0 != (raw[1] == 0) && raw[0] == 0 == (raw[2] == 0) && raw[1] == 0 == (raw[3] == 0)
}

func isEncodedTwice(raw []byte) bool {
	decoded, err := decodeBase64(raw)
	return err == nil && len(decoded) > 0 && verdict(decoded) == nil
}

// decodeBase64 takes line breaks, and missing padding, as guests do.
func decodeBase64(raw []byte) ([]byte, error) {
	packed := bytes.Join(bytes.Fields(raw), nil)
	packed = bytes.TrimRight(packed, "=")
	return base64.RawStdEncoding.AppendDecode(nil, packed)
}

func isSinglePart(raw []byte) bool {
	message, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return false
	}
	_, _, err = mime.ParseMediaType(message.Header.Get("Content-Type"))
	return err == nil
}

func isJSONObject(raw []byte) bool {
	return strings.HasPrefix(firstLine(raw), "{") && json.Valid(raw)
}

func isMapping(raw []byte) bool {
	if len(raw) > MaxSize {
		return false
	}
	root, err := rootOf(raw)
	return err == nil && root != nil && root.Kind == yaml.MappingNode
}
