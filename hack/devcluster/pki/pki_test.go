// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"k8s.io/client-go/util/keyutil"
)

func newAuthority(t *testing.T) *Authority {
	t.Helper()
	authority, err := NewAuthority("test")
	if err != nil {
		t.Fatal(err)
	}
	return authority
}

func parse(t *testing.T, pair Pair, err error) (*x509.Certificate, tls.Certificate) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := pair.TLS()
	if err != nil {
		t.Fatal(err)
	}
	return certificate.Leaf, certificate
}

func TestServerCertificate(t *testing.T) {
	authority := newAuthority(t)
	pair, err := authority.Server("name.svc")
	leaf, _ := parse(t, pair, err)
	for _, name := range []string{"127.0.0.1", "localhost", "name.svc"} {
		options := x509.VerifyOptions{DNSName: name, Roots: authority.Pool(), CurrentTime: time.Now()}
		if _, err := leaf.Verify(options); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: newAuthority(t).Pool()}); err == nil {
		t.Error("another authority accepts it")
	}
}

func TestClientCertificateNamesUserAndGroups(t *testing.T) {
	authority := newAuthority(t)
	pair, err := authority.Client("alice", "a", "b")
	leaf, _ := parse(t, pair, err)
	if leaf.Subject.CommonName != "alice" || !slices.Equal(leaf.Subject.Organization, []string{"a", "b"}) {
		t.Errorf("subject %v", leaf.Subject)
	}
	if slices.Contains(leaf.ExtKeyUsage, x509.ExtKeyUsageServerAuth) {
		t.Error("a client's certificate serves")
	}
}

func TestRSAClientCanSignWithPS512(t *testing.T) {
	pair, err := newAuthority(t).RSAClient("unikorn-compute")
	_, certificate := parse(t, pair, err)
	if _, ok := certificate.PrivateKey.(*rsa.PrivateKey); !ok {
		t.Errorf("key %T", certificate.PrivateKey)
	}
}

func TestFilesAreTheOwnersAlone(t *testing.T) {
	pair, err := newAuthority(t).Client("alice")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	files := []string{filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")}
	if err := pair.Write(files[0], files[1]); err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
	}
}

func TestKeyPairIsReadable(t *testing.T) {
	key, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	private, public, err := KeyPair(key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := keyutil.ParsePrivateKeyPEM(private); err != nil {
		t.Error(err)
	}
	if keys, err := keyutil.ParsePublicKeysPEM(public); err != nil || len(keys) != 1 {
		t.Errorf("%v, %v", keys, err)
	}
}
