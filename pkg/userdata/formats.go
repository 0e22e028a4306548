// SPDX-License-Identifier: Apache-2.0

package userdata

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"
)

// The content types of parts that cloud-init handles.
const (
	typeCloudConfig = "text/cloud-config"
	typeJSONPatch   = "text/cloud-config-jsonp"
	typeArchive     = "text/cloud-config-archive"
	typeScript      = "text/x-shellscript"
	typeBoothook    = "text/cloud-boothook"
	typeTemplate    = "text/jinja2"
	typeInclude     = "text/x-include-url"
	typeIncludeOnce = "text/x-include-once-url"
	typePartHandler = "text/part-handler"
)

// format is a kind of user data that is told by how its text begins.
type format struct {
	beginning, label string
}

// regionFormats are what region takes, case included, in the order in which it
// tries them and with the labels that it gives: the first match wins, right or
// wrong.
var regionFormats = []format{
	{"## template: jinja", "text/jinja"},
	{"#cloud-config", typeCloudConfig},
	{"#!", typeScript},
	{"#cloud-boothook", typeBoothook},
	{"#cloud-config-archive", typeArchive},
	{"#include", typeInclude},
	{"#part-handler", typePartHandler},
}

// guestFormats are what cloud-init takes, in any case. A beginning comes before
// those that are the beginning of itself.
var guestFormats = []format{
	{"#cloud-config-archive", typeArchive},
	{"#cloud-config-jsonp", typeJSONPatch},
	{"#cloud-config", typeCloudConfig},
	{"#cloud-boothook", typeBoothook},
	{"#include-once", typeIncludeOnce},
	{"#include", typeInclude},
	{"#part-handler", typePartHandler},
	{"#!", typeScript},
}

// templateLine is the first line of a template. Its group is the renderer.
var templateLine = regexp.MustCompile(`(?i)^##\s*template:(.*)`)

// Label returns the content type under which cloud-init handles text that
// begins as raw does, and "" when it knows none. That is the label which a part
// made of raw should have; region's is another one for some formats.
func Label(raw []byte) string {
	line := strings.ToLower(firstLine(bytes.TrimLeftFunc(raw, unicode.IsSpace)))
	if match := templateLine.FindStringSubmatch(line); len(match) > 0 && strings.HasPrefix(strings.TrimSpace(match[1]), "jinja") {
		return typeTemplate
	}
	return labelOf(line, guestFormats)
}

// regionLabel returns the label that region gives to raw, and "" when it
// refuses raw.
func regionLabel(raw []byte) string {
	return labelOf(firstLine(raw), regionFormats)
}

func labelOf(line string, formats []format) string {
	for _, known := range formats {
		if strings.HasPrefix(line, known.beginning) {
			return known.label
		}
	}
	return ""
}

// firstLine is without surrounding white space.
func firstLine(raw []byte) string {
	line, _, _ := bytes.Cut(raw, []byte("\n"))
	return strings.TrimSpace(string(line))
}
