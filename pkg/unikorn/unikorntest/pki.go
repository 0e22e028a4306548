// SPDX-License-Identifier: Apache-2.0

// Package unikorntest has what tests need to stand in for a service of the
// platform: certificates, and a server that asks for them.
package unikorntest

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
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/util/keyutil"

	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// PKI is a certificate authority and the files a client of the platform needs.
type PKI struct {
	// CAFile, CertFile and KeyFile are PEM files: the authority, and a client
	// certificate it issued, with an RSA key.
	CAFile, CertFile, KeyFile string

	authority *x509.Certificate
	key       crypto.Signer
	pem       []byte
}

// NewPKI makes an authority and a client certificate for commonName, in a
// temporary folder of the test.
func NewPKI(t testing.TB, commonName string) *PKI {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := template("authority of the test")
	template.IsCA = true
	template.KeyUsage = x509.KeyUsageCertSign
	template.BasicConstraintsValid = true
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(t, err)
	authority, err := x509.ParseCertificate(der)
	must(t, err)

	folder := t.TempDir()
	pki := &PKI{
		CAFile:    filepath.Join(folder, "ca.crt"),
		CertFile:  filepath.Join(folder, "client.crt"),
		KeyFile:   filepath.Join(folder, "client.key"),
		authority: authority,
		key:       key,
		pem:       encode(der),
	}
	pki.WriteCA(t)
	pki.WriteClient(t, commonName)
	return pki
}

// WriteCA puts the authority, and those of others, into CAFile.
func (p *PKI) WriteCA(t testing.TB, others ...*PKI) {
	t.Helper()
	bundle := append([]byte{}, p.pem...)
	for _, other := range others {
		bundle = append(bundle, other.pem...)
	}
	must(t, os.WriteFile(p.CAFile, bundle, 0o600))
}

// WriteClient puts a new certificate and key for commonName into CertFile and
// KeyFile.
func (p *PKI) WriteClient(t testing.TB, commonName string) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	template := template(commonName)
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	der, err := x509.CreateCertificate(rand.Reader, template, p.authority, key.Public(), p.key)
	must(t, err)
	private, err := keyutil.MarshalPrivateKeyToPEM(key)
	must(t, err)
	must(t, os.WriteFile(p.KeyFile, private, 0o600))
	must(t, os.WriteFile(p.CertFile, encode(der), 0o600))
}

// Files reads the files of the client.
func (p *PKI) Files(t testing.TB) *unikorn.TLSFiles {
	t.Helper()
	files, err := unikorn.NewTLSFiles(p.CAFile, p.CertFile, p.KeyFile)
	must(t, err)
	return files
}

// Start runs a server that requires a client certificate of the authority,
// until the test ends. prepare may change the server before it starts.
func (p *PKI) Start(t testing.TB, handler http.Handler, prepare ...func(*httptest.Server)) *httptest.Server {
	t.Helper()
	clients := x509.NewCertPool()
	clients.AddCert(p.authority)
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{
		Certificates: []tls.Certificate{p.serving(t)},
		ClientCAs:    clients,
		ClientAuth:   tls.RequireAndVerifyClientCert,
	}
	for _, change := range prepare {
		change(server)
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

func (p *PKI) serving(t testing.TB) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := template("service of the test")
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	der, err := x509.CreateCertificate(rand.Reader, template, p.authority, key.Public(), p.key)
	must(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func template(commonName string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: commonName},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}
}

func encode(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
