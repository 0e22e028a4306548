// SPDX-License-Identifier: Apache-2.0

// Package pki issues the certificates of the development environment.
package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

const (
	// lifetime of what is issued. An environment is made anew at each start.
	lifetime = 365 * 24 * time.Hour
	// skew is how far the clocks of machines that share a folder may differ.
	skew = time.Hour
	// rsaBits of the keys that sign principals.
	rsaBits = 2048
)

// Authority is a certificate authority that exists in memory only: nothing but
// its certificate is ever written.
type Authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

// NewAuthority makes an authority of its own key.
func NewAuthority(name string) (*Authority, error) {
	key, err := NewKey()
	if err != nil {
		return nil, err
	}
	certificate, err := cert.NewSelfSignedCACert(cert.Config{CommonName: name}, key)
	if err != nil {
		return nil, fmt.Errorf("certificate authority %s: %w", name, err)
	}
	return &Authority{certificate: certificate, key: key}, nil
}

// CertificatePEM returns the authority's certificate.
func (a *Authority) CertificatePEM() []byte {
	return encode(a.certificate)
}

// Pool returns a pool of this authority alone.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return pool
}

// Server issues a certificate for a server that is reached under 127.0.0.1,
// localhost and names. It may also be a client, as etcd is to its peers.
func (a *Authority) Server(names ...string) (Pair, error) {
	key, err := NewKey()
	if err != nil {
		return Pair{}, err
	}
	return a.issue(key, &x509.Certificate{
		Subject:     pkix.Name{CommonName: append(names, "localhost")[0]},
		DNSNames:    append([]string{"localhost"}, names...),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
}

// Client issues a certificate that Kubernetes takes for the user name, member
// of groups.
func (a *Authority) Client(name string, groups ...string) (Pair, error) {
	key, err := NewKey()
	if err != nil {
		return Pair{}, err
	}
	return a.client(key, name, groups)
}

// RSAClient issues a client certificate whose key can sign with PS512.
func (a *Authority) RSAClient(name string) (Pair, error) {
	key, err := rsa.GenerateKey(rand.Reader, rsaBits)
	if err != nil {
		return Pair{}, err
	}
	return a.client(key, name, nil)
}

func (a *Authority) client(key crypto.Signer, name string, groups []string) (Pair, error) {
	return a.issue(key, &x509.Certificate{
		Subject:     pkix.Name{CommonName: name, Organization: groups},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

// issue completes template for key and signs it.
func (a *Authority) issue(key crypto.Signer, template *x509.Certificate) (Pair, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return Pair{}, err
	}
	now := time.Now()
	template.SerialNumber = serial
	template.NotBefore, template.NotAfter = now.Add(-skew), now.Add(lifetime)
	template.KeyUsage = x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return Pair{}, fmt.Errorf("certificate of %s: %w", template.Subject.CommonName, err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return Pair{}, err
	}
	keyPEM, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return Pair{}, err
	}
	return Pair{Certificate: encode(certificate), Key: keyPEM}, nil
}

// NewKey makes a key, elliptic because those are made in no time.
func NewKey() (crypto.Signer, error) {
	return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
}
