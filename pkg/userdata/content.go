// SPDX-License-Identifier: Apache-2.0

package userdata

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// content goes through text of a declared type. Where the type says little,
// cloud-init goes by how the text begins.
func (i *inspection) content(subject, declared string, body []byte) {
	if isCompressed(declared) {
		content, ok := i.decompress(subject, body)
		if !ok {
			return
		}
		subject, declared, body = "decompressed "+subject, defaultType, content
	}
	effective := declared
	if isVague(declared) {
		if label := Label(body); label != "" {
			effective = label
		}
	}
	if effective == typeCloudConfig {
		i.cloudConfig(subject, body)
		return
	}
	i.logins.unknown = true
	switch effective {
	case typeArchive:
		i.yaml(subject, body, yaml.SequenceNode, "has no effect: a cloud-config archive must be a YAML list")
	case typeTemplate:
		i.template(subject, body)
	case typePartHandler:
		i.handlers = true
	case typeScript, typeScript + "-per-boot", typeScript + "-per-instance", typeScript + "-per-once":
		i.script(subject, body)
	case typeJSONPatch, typeBoothook, typeInclude, typeIncludeOnce:
	default:
		i.unknown(subject, declared, body)
	}
}

func (i *inspection) cloudConfig(subject string, body []byte) {
	root := i.yaml(subject, body, yaml.MappingNode, "fails in the guest: cloud-config must be a YAML mapping")
	if root == nil {
		return
	}
	i.replacements(subject, root)
	i.logins.merge(root)
}

// isVague tells whether cloud-init trusts the text more than the type.
func isVague(declared string) bool {
	return declared == defaultType || declared == "text/x-not-multipart" || declared == typeScript
}

func (i *inspection) unknown(subject, declared string, body []byte) {
	switch {
	case i.handlers, len(bytes.TrimSpace(body)) == 0:
	case isVague(declared):
		i.warn(subject, "is ignored by cloud-init: it begins with nothing that cloud-init knows")
	default:
		i.warn(subject, "is ignored by cloud-init: its content type is none that cloud-init knows")
	}
}

// script is written to a file as text and executed, so its first two bytes
// matter.
func (i *inspection) script(subject string, body []byte) {
	switch {
	case !bytes.HasPrefix(body, []byte("#!")):
		i.warn(subject, "fails in the guest: a script must begin with #!, without anything before it")
	case firstLine(body) == "#!":
		i.warn(subject, "fails in the guest: the first line of the script names no interpreter after #!")
	case !utf8.Valid(body):
		i.warn(subject, "fails in the guest: cloud-init cannot write a script that is not UTF-8")
	}
}

// template is rendered only if its first line is a correct one, and handled
// only if what comes out begins as cloud-config or a script.
func (i *inspection) template(subject string, body []byte) {
	line, rest, _ := bytes.Cut(body, []byte("\n"))
	match := templateLine.FindSubmatch(line)
	if len(match) == 0 || !strings.EqualFold(strings.TrimSpace(string(match[1])), "jinja") {
		i.warn(subject, "is ignored by cloud-init: the first line of a template must be ## template: jinja and nothing else")
		return
	}
	rest = bytes.TrimLeftFunc(rest, unicode.IsSpace)
	if beginsWithExpression(rest) {
		return
	}
	switch Label(rest) {
	case typeCloudConfig, typeJSONPatch, typeScript:
	default:
		i.warn(subject, "is ignored by cloud-init: after its first line, a template must go on with #cloud-config or a script")
	}
}

// beginsWithExpression tells whether only rendering can tell what the text
// begins with.
func beginsWithExpression(text []byte) bool {
	return bytes.HasPrefix(text, []byte("{%")) || bytes.HasPrefix(text, []byte("{{")) || bytes.HasPrefix(text, []byte("{#"))
}
