// SPDX-License-Identifier: Apache-2.0

package principal

import (
	"crypto"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-jose/go-jose/v4"
)

// Form is one of the two ways to write a principal.
type Form string

const (
	// FormA is unsigned, what request paths send.
	FormA Form = "A"
	// FormB is signed with the key of the sender's client certificate, what
	// controllers send.
	FormB Form = "B"
)

// Encode writes p in form A: its JSON in base64 with the URL alphabet and
// without padding.
func (p Principal) Encode() (string, error) {
	payload, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("principal: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(payload), nil
}

var errNotRSA = errors.New("principal in form B needs the RSA key of the sender's client certificate")

// Decode reads the value of an X-Principal header in either form. Form B is
// verified with key, the public key of the caller's client certificate. What
// decodes as base64 is form A; a signature in form B has dots, so the two cannot
// be mistaken for each other.
func Decode(value string, key crypto.PublicKey) (Principal, Form, error) {
	payload, err := base64.RawURLEncoding.DecodeString(value)
	if err == nil {
		p, err := parse(payload)
		return p, FormA, err
	}
	payload, err = verify(value, key)
	if err != nil {
		return Principal{}, FormB, err
	}
	p, err := parse(payload)
	return p, FormB, err
}

func verify(value string, key crypto.PublicKey) ([]byte, error) {
	public, ok := key.(*rsa.PublicKey)
	if !ok {
		return nil, errNotRSA
	}
	signed, err := jose.ParseSignedCompact(value, []jose.SignatureAlgorithm{jose.PS512})
	if err != nil {
		return nil, fmt.Errorf("principal in neither form: %w", err)
	}
	payload, err := signed.Verify(public)
	if err != nil {
		return nil, fmt.Errorf("signature of the principal: %w", err)
	}
	return payload, nil
}

func parse(payload []byte) (Principal, error) {
	var p *Principal
	if err := json.Unmarshal(payload, &p); err != nil {
		return Principal{}, fmt.Errorf("principal: %w", err)
	}
	if p == nil {
		return Principal{}, errors.New("principal is null")
	}
	return *p, nil
}
