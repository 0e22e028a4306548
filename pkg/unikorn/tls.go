// SPDX-License-Identifier: Apache-2.0

package unikorn

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"

	"golang.org/x/sync/errgroup"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/util/cert"
)

// TLSFiles are the files this service authenticates itself and its peer with.
// They are read when it is made and again, while Run runs, when they change. A
// file that becomes unreadable or malformed leaves the last good content in
// place.
type TLSFiles struct {
	ca     *dynamiccertificates.DynamicFileCAContent
	client *dynamiccertificates.DynamicCertKeyPairContent
}

// NewTLSFiles reads the PEM files: the authorities a peer's certificate must
// come from, and the certificate and key of this service. It fails when one of
// them cannot be read or certificate and key do not belong together.
func NewTLSFiles(caFile, certFile, keyFile string) (*TLSFiles, error) {
	ca, err := dynamiccertificates.NewDynamicCAContentFromFile("platform", caFile)
	if err != nil {
		return nil, fmt.Errorf("certificate authorities of the platform: %w", err)
	}
	client, err := dynamiccertificates.NewDynamicServingContentFromFiles("platform-client", certFile, keyFile)
	if err != nil {
		return nil, fmt.Errorf("client certificate for the platform: %w", err)
	}
	return &TLSFiles{ca: ca, client: client}, nil
}

// Run watches the files until ctx ends.
func (f *TLSFiles) Run(ctx context.Context) {
	var group errgroup.Group
	for _, file := range []dynamiccertificates.ControllerRunner{f.ca, f.client} {
		group.Go(func() error {
			file.Run(ctx, 1)
			return nil
		})
	}
	_ = group.Wait()
}

// CurrentCertKeyContent is the certificate and key of this service in PEM form.
func (f *TLSFiles) CurrentCertKeyContent() (certificate, key []byte) {
	return f.client.CurrentCertKeyContent()
}

// material is the content of the files at one moment.
type material struct {
	ca, certificate, key []byte
}

func (f *TLSFiles) current() material {
	certificate, key := f.client.CurrentCertKeyContent()
	return material{ca: f.ca.CurrentCABundleContent(), certificate: certificate, key: key}
}

func (m material) equal(other material) bool {
	return bytes.Equal(m.ca, other.ca) &&
		bytes.Equal(m.certificate, other.certificate) &&
		bytes.Equal(m.key, other.key)
}

func (m material) config() (*tls.Config, error) {
	roots, err := m.roots()
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(m.certificate, m.key)
	if err != nil {
		return nil, fmt.Errorf("client certificate for the platform: %w", err)
	}
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		RootCAs:      roots,
		Certificates: []tls.Certificate{pair},
		// Connections are short-lived because idle ones are closed early;
		// resumption spares them the signature. The cache dies with the
		// configuration, so no session outlives the certificate it was made with.
		ClientSessionCache: tls.NewLRUClientSessionCache(0),
	}, nil
}

func (m material) roots() (*x509.CertPool, error) {
	roots, err := cert.NewPoolFromBytes(m.ca)
	if err != nil {
		return nil, fmt.Errorf("certificate authorities of the platform: %w", err)
	}
	return roots, nil
}
