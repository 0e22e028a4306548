// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// discreetDecoding has errors about bodies show nothing of them but names of
// fields. They are answers to clients, but end up in logs and, whatever the
// policy says of bodies, in audits.
type discreetDecoding struct {
	runtime.NegotiatedSerializer
}

// DecoderToVersion implements runtime.NegotiatedSerializer.
func (s discreetDecoding) DecoderToVersion(serializer runtime.Decoder, version runtime.GroupVersioner) runtime.Decoder {
	return discreetDecoder{s.NegotiatedSerializer.DecoderToVersion(serializer, version)}
}

var _ runtime.Decoder = discreetDecoder{}

type discreetDecoder struct {
	runtime.Decoder
}

// Decode implements runtime.Decoder. With an error it returns a kind whenever
// there is one to assume: the API machinery shows the beginning of a body of
// unknown kind.
func (d discreetDecoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	object, kind, err := d.Decoder.Decode(data, defaults, into)
	if err == nil {
		return object, kind, nil
	}
	if kind == nil || kind.Kind == "" {
		kind = defaults
	}
	err = discreet(err, data)
	if errors.Is(err, errForm) && defaults != nil && kind.Kind != defaults.Kind {
		err = fmt.Errorf("kind must be %s", defaults.Kind)
	}
	return object, kind, err
}

// errForm is said where nothing better is known.
var errForm = errors.New("a value does not have the form it must have")

var (
	// wrongType is what encoding/json and its descendants say of a value of the
	// wrong type. Of a number they show the value.
	wrongType = regexp.MustCompile(`(json: cannot unmarshal (?:string|number|bool|array|object|null))(?: \S+)?( into Go (?:struct field \S+ of type \S+|value))`)
	// yamlLine is the line that a parser of YAML stumbled over.
	yamlLine = regexp.MustCompile(`^(?:error converting YAML to JSON: )?yaml: .*?line (\d+): `)
	yamlOnly = regexp.MustCompile(`^(?:error converting YAML to JSON: )?yaml: `)
)

// discreet keeps of an error what is wrong and where, and drops what is there.
func discreet(err error, data []byte) error {
	if runtime.IsStrictDecodingError(err) || runtime.IsNotRegisteredError(err) {
		return err
	}
	// No other field is of bytes.
	if _, ok := errors.AsType[base64.CorruptInputError](err); ok {
		return errors.New("spec.userData: must be base64")
	}
	if _, ok := errors.AsType[*time.ParseError](err); ok {
		return errors.New("a time must be in the form of RFC 3339")
	}
	text := err.Error()
	if found := wrongType.FindStringSubmatch(text); found != nil {
		return errors.New(found[1] + found[2])
	}
	if found := yamlLine.FindStringSubmatch(text); found != nil {
		return errors.New("malformed YAML at line " + found[1])
	}
	if yamlOnly.MatchString(text) {
		return errors.New("malformed YAML")
	}
	var syntax *json.SyntaxError
	if errors.As(json.Unmarshal(data, new(json.RawMessage)), &syntax) {
		return fmt.Errorf("malformed JSON at byte %d", syntax.Offset)
	}
	if runtime.IsMissingVersion(err) || runtime.IsMissingKind(err) {
		return errors.New("apiVersion and kind must name a version and a kind")
	}
	return errForm
}
