// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// Pair is a certificate and its private key, PEM encoded.
type Pair struct {
	Certificate []byte
	Key         []byte
}

// Write puts the pair into two files that only the owner can read.
func (p Pair) Write(certFile, keyFile string) error {
	if err := os.WriteFile(certFile, p.Certificate, 0o600); err != nil {
		return err
	}
	return os.WriteFile(keyFile, p.Key, 0o600)
}

// TLS returns the pair as crypto/tls takes it.
func (p Pair) TLS() (tls.Certificate, error) {
	return tls.X509KeyPair(p.Certificate, p.Key)
}

// KeyPair encodes a private key and its public half, as kube-apiserver signs
// and checks service account tokens with.
func KeyPair(key crypto.Signer) (private, public []byte, err error) {
	private, err = keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return nil, nil, err
	}
	return private, pem.EncodeToMemory(&pem.Block{Type: keyutil.PublicKeyBlockType, Bytes: der}), nil
}

func encode(certificate *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: certificate.Raw})
}
