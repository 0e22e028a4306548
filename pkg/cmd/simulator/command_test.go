// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/spf13/pflag"

	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/settings"
)

// certificateFiles writes a certificate that is its own authority.
func certificateFiles(t *testing.T) (certificate, key string) {
	t.Helper()
	g := NewWithT(t)
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	g.Expect(err).NotTo(HaveOccurred())
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	g.Expect(err).NotTo(HaveOccurred())
	der, err := x509.MarshalPKCS8PrivateKey(private)
	g.Expect(err).NotTo(HaveOccurred())
	folder := t.TempDir()
	certificate, key = filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")
	g.Expect(os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), 0o600)).To(Succeed())
	g.Expect(os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600)).To(Succeed())
	return certificate, key
}

func parse(t *testing.T, arguments ...string) *options {
	t.Helper()
	o := newOptions()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	for _, set := range o.flags().FlagSets {
		flags.AddFlagSet(set)
	}
	if err := flags.Parse(arguments); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestRunWritesAddressesAndEndsWithItsContext(t *testing.T) {
	g := NewWithT(t)
	certificate, key := certificateFiles(t)
	file := filepath.Join(t.TempDir(), "addresses.json")
	o := parse(t, "--region-bind-address=127.0.0.1:0", "--identity-bind-address=127.0.0.1:0", "--admin-bind-address=127.0.0.1:0",
		"--tls-cert-file="+certificate, "--tls-private-key-file="+key, "--client-ca-file="+certificate, "--addresses-file="+file)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, o) }()

	var where addresses
	g.Eventually(func() error {
		raw, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return json.Unmarshal(raw, &where)
	}, 30*time.Second).Should(Succeed())
	g.Expect(where.Region).To(HavePrefix("https://127.0.0.1:"))
	g.Expect(where.Identity).To(HavePrefix("https://127.0.0.1:"))
	g.Eventually(func() (int, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, where.Admin+"/healthz", http.NoBody)
		if err != nil {
			return 0, err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return 0, err
		}
		return response.StatusCode, response.Body.Close()
	}, 30*time.Second).Should(Equal(http.StatusOK))

	cancel()
	g.Eventually(ended, 30*time.Second).Should(Receive(BeNil()))
}

func TestRunRefuses(t *testing.T) {
	certificate, key := certificateFiles(t)
	tests := map[string][]string{
		"no certificates":         {"--tls-cert-file=", "--tls-private-key-file="},
		"a missing authority":     {"--client-ca-file=/nonexistent"},
		"a key for an authority":  {"--client-ca-file=" + key},
		"an admin API for all":    {"--admin-bind-address=0.0.0.0:0"},
		"an address without port": {"--admin-bind-address=127.0.0.1"},
		"an impossible address":   {"--identity-bind-address=127.0.0.1:99999"},
		"a negative time":         {"--boot-time=-1s"},
	}
	for name, arguments := range tests {
		t.Run(name, func(t *testing.T) {
			common := []string{
				"--region-bind-address=127.0.0.1:0", "--identity-bind-address=127.0.0.1:0", "--admin-bind-address=127.0.0.1:0",
				"--tls-cert-file=" + certificate, "--tls-private-key-file=" + key, "--client-ca-file=" + certificate,
			}
			if err := run(context.Background(), parse(t, append(common, arguments...)...)); err == nil {
				t.Error("accepted")
			}
		})
	}
}

func TestFlagsStartFromTheDefaults(t *testing.T) {
	g := NewWithT(t)
	got, err := parse(t, "--boot-time=250ms", "--idle-timeout=0").settings()
	g.Expect(err).NotTo(HaveOccurred())
	want := settings.Default()
	want.BootMillis, want.IdleMillis = 250, 0
	g.Expect(got).To(Equal(want))
}
