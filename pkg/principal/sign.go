// SPDX-License-Identifier: Apache-2.0

package principal

import (
	"bytes"
	"context"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"github.com/go-jose/go-jose/v4"
	"k8s.io/client-go/util/keyutil"
)

// KeySource has the certificate and key this service authenticates itself with,
// in PEM form. They may change over time.
type KeySource interface {
	CurrentCertKeyContent() (certificate, key []byte)
}

// Signer makes credentials in form B.
type Signer struct {
	source KeySource

	mu     sync.Mutex
	pem    []byte
	signer jose.Signer
}

// NewSigner fails when the key of source cannot sign: it must be RSA.
func NewSigner(source KeySource) (*Signer, error) {
	s := &Signer{source: source}
	if _, err := s.current(); err != nil {
		return nil, err
	}
	return s, nil
}

// Sign makes calls with the rights of this service, for p, in form B: of p only
// organization, project and actor are sent. Every request is signed with the
// key that is current then.
func (s *Signer) Sign(p Principal) Credential {
	return func(_ context.Context, req *http.Request) error {
		if err := p.validate(); err != nil {
			return err
		}
		signed, err := s.encode(p)
		if err != nil {
			return err
		}
		req.Header.Set(principalHeader, signed)
		return nil
	}
}

func (s *Signer) encode(p Principal) (string, error) {
	signer, err := s.current()
	if err != nil {
		return "", err
	}
	payload, err := json.Marshal(Principal{
		OrganizationID: p.OrganizationID,
		ProjectID:      p.ProjectID,
		Actor:          p.Actor,
	})
	if err != nil {
		return "", fmt.Errorf("principal: %w", err)
	}
	object, err := signer.Sign(payload)
	if err != nil {
		return "", fmt.Errorf("signing the principal: %w", err)
	}
	return object.CompactSerialize()
}

func (s *Signer) current() (jose.Signer, error) {
	_, pem := s.source.CurrentCertKeyContent()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.signer != nil && bytes.Equal(pem, s.pem) {
		return s.signer, nil
	}
	signer, err := newSigner(pem)
	if err != nil {
		return nil, err
	}
	s.pem, s.signer = pem, signer
	return signer, nil
}

func newSigner(pem []byte) (jose.Signer, error) {
	key, err := keyutil.ParsePrivateKeyPEM(pem)
	if err != nil {
		return nil, fmt.Errorf("key to sign principals with: %w", err)
	}
	private, ok := key.(*rsa.PrivateKey)
	if !ok {
		return nil, errNotRSA
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.PS512, Key: private}, nil)
	if err != nil {
		return nil, fmt.Errorf("key to sign principals with: %w", err)
	}
	return signer, nil
}
