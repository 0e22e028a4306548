// SPDX-License-Identifier: Apache-2.0

package userdata

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxYAML is how much YAML is examined, in bytes: the parts of one message share
// it. A tree takes some two hundred times the room of its text.
const maxYAML = 128 << 10

var errSeveralDocuments = errors.New("more than one document")

// rootOf returns the root of the only document of a YAML stream, nil when there
// is nothing in it. It parses without building values, so that references to
// references cost nothing.
func rootOf(raw []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	var document, more yaml.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errors.Join(errSeveralDocuments, err)
	}
	root := document.Content[0]
	if root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null" {
		return nil, nil
	}
	return root, nil
}

// yaml returns the root of what must be a YAML document with a root of some
// kind. Where it is none it returns nil and, unless there is nothing in it,
// tells otherwise.
func (i *inspection) yaml(subject string, body []byte, want yaml.Kind, otherwise string) *yaml.Node {
	if len(body) > i.yamlRoom {
		i.unexamined(subject, fmt.Sprintf("there are more than %d bytes of YAML", maxYAML))
		return nil
	}
	i.yamlRoom -= len(body)
	root, err := rootOf(body)
	switch {
	case err != nil:
		i.warn(subject, "fails in the guest: it is not a single, valid YAML document")
		return nil
	case root == nil:
		return nil
	case root.Kind != want:
		i.warn(subject, otherwise)
		return nil
	default:
		return root
	}
}

// replacements tells which top-level keys a later part sets as well. Cloud-init
// merges cloud-config key by key and keeps the last.
func (i *inspection) replacements(subject string, root *yaml.Node) {
	var lost []string
	for at := 0; at < len(root.Content); at += 2 {
		if key := root.Content[at].Value; slices.Contains(i.replaced, key) && !slices.Contains(lost, key) {
			lost = append(lost, key)
		}
	}
	if len(lost) > 0 {
		i.warn(subject, fmt.Sprintf("loses its %s: with an SSH certificate authority, cloud-init keeps only "+
			"what is added for the authority under that key; use a script instead", strings.Join(lost, " and ")))
	}
}
