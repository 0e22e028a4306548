// SPDX-License-Identifier: Apache-2.0

package simulator_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestSimulator(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Simulator")
}

// pki is the certificates of all specs: RSA where principals are signed.
var pki struct {
	authority *x509.Certificate
	key       *ecdsa.PrivateKey
	pool      *x509.CertPool
	server    tls.Certificate
	compute   tls.Certificate
	other     tls.Certificate
	seeder    tls.Certificate
	unknown   tls.Certificate
	// foreign claims to be compute, by an authority of its own.
	foreign tls.Certificate
}

var _ = BeforeSuite(func() {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	Expect(err).NotTo(HaveOccurred())
	template := certificateTemplate("authority")
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	Expect(err).NotTo(HaveOccurred())
	pki.key = key
	pki.authority, err = x509.ParseCertificate(raw)
	Expect(err).NotTo(HaveOccurred())
	pki.pool = x509.NewCertPool()
	pki.pool.AddCert(pki.authority)

	pki.server = issue("server", newECDSAKey())
	pki.compute = issue("unikorn-compute", newRSAKey())
	pki.other = issue("unikorn-compute", newRSAKey())
	pki.seeder = issue("unikorn-kubernetes", newECDSAKey())
	pki.unknown = issue("unikorn-nobody", newECDSAKey())

	foreign := newECDSAKey()
	template = certificateTemplate("unikorn-compute")
	raw, err = x509.CreateCertificate(rand.Reader, template, template, foreign.Public(), foreign)
	Expect(err).NotTo(HaveOccurred())
	pki.foreign = tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: foreign}
})

func newECDSAKey() crypto.Signer {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	Expect(err).NotTo(HaveOccurred())
	return key
}

func newRSAKey() crypto.Signer {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	Expect(err).NotTo(HaveOccurred())
	return key
}

func certificateTemplate(name string) *x509.Certificate {
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	Expect(err).NotTo(HaveOccurred())
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(24 * time.Hour),
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
	}
}

func issue(name string, key crypto.Signer) tls.Certificate {
	raw, err := x509.CreateCertificate(rand.Reader, certificateTemplate(name), pki.authority, key.Public(), pki.key)
	Expect(err).NotTo(HaveOccurred())
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}
}

// keySource shows a certificate the way files do.
type keySource tls.Certificate

func (k keySource) CurrentCertKeyContent() (certificate, key []byte) {
	der, err := x509.MarshalPKCS8PrivateKey(k.PrivateKey)
	Expect(err).NotTo(HaveOccurred())
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: k.Certificate[0]}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}
