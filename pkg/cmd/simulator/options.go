// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/settings"
)

type options struct {
	regionAddress   string
	identityAddress string
	adminAddress    string
	addressesFile   string

	certFile     string
	keyFile      string
	clientCAFile string

	boot, stop, deletion, rebuild, snapshot, readLag, idle time.Duration
}

func newOptions() *options {
	initial := settings.Default()
	return &options{
		regionAddress:   "127.0.0.1:9443",
		identityAddress: "127.0.0.1:9444",
		adminAddress:    "127.0.0.1:9080",
		boot:            settings.Millis(initial.BootMillis),
		stop:            settings.Millis(initial.StopMillis),
		deletion:        settings.Millis(initial.DeleteMillis),
		rebuild:         settings.Millis(initial.RebuildMillis),
		snapshot:        settings.Millis(initial.SnapshotMillis),
		readLag:         settings.Millis(initial.ReadLagMillis),
		idle:            settings.Millis(initial.IdleMillis),
	}
}

// Flags returns the flags with their defaults, grouped for --help.
func Flags() cliflag.NamedFlagSets {
	return newOptions().flags()
}

func (o *options) flags() cliflag.NamedFlagSets {
	var sets cliflag.NamedFlagSets
	o.addAddressFlags(sets.FlagSet("addresses"))
	o.addCertificateFlags(sets.FlagSet("certificates"))
	o.addTimingFlags(sets.FlagSet("timing"))
	return sets
}

func (o *options) addAddressFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.regionAddress, "region-bind-address", o.regionAddress, "Address of the region service; port 0 takes a free one.")
	flags.StringVar(&o.identityAddress, "identity-bind-address", o.identityAddress, "Address of the identity service; port 0 takes a free one.")
	flags.StringVar(&o.adminAddress, "admin-bind-address", o.adminAddress, "Address of the admin API, on loopback only; port 0 takes a free one.")
	flags.StringVar(&o.addressesFile, "addresses-file", "", "File to write the URLs to once all addresses are bound, as JSON: region, identity, admin.")
}

func (o *options) addCertificateFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.certFile, "tls-cert-file", "", "File with the certificate of both services, in PEM form. Required.")
	flags.StringVar(&o.keyFile, "tls-private-key-file", "", "File with the private key of the certificate, in PEM form. Required.")
	flags.StringVar(&o.clientCAFile, "client-ca-file", "", "File with the authorities of client certificates, in PEM form. Required.")
}

func (o *options) addTimingFlags(flags *pflag.FlagSet) {
	flags.DurationVar(&o.boot, "boot-time", o.boot, "From the request for a server, or for its start, until it runs.")
	flags.DurationVar(&o.stop, "stop-time", o.stop, "From the request until a server is stopped.")
	flags.DurationVar(&o.deletion, "delete-time", o.deletion, "From the request until a server is gone.")
	flags.DurationVar(&o.rebuild, "rebuild-time", o.rebuild, "From another image until the server runs it.")
	flags.DurationVar(&o.snapshot, "snapshot-time", o.snapshot, "From the request until an image is ready.")
	flags.DurationVar(&o.readLag, "read-lag", o.readLag, "How far reads are behind writes.")
	flags.DurationVar(&o.idle, "idle-timeout", o.idle, "How long an idle connection stays open; 0 for ever.")
}

// settings returns what the flags say; the admin API can change it later.
func (o *options) settings() (settings.Settings, error) {
	initial := settings.Default()
	initial.BootMillis = o.boot.Milliseconds()
	initial.StopMillis = o.stop.Milliseconds()
	initial.DeleteMillis = o.deletion.Milliseconds()
	initial.RebuildMillis = o.rebuild.Milliseconds()
	initial.SnapshotMillis = o.snapshot.Milliseconds()
	initial.ReadLagMillis = o.readLag.Milliseconds()
	initial.IdleMillis = o.idle.Milliseconds()
	return initial, initial.Validate()
}

var errNoCertificates = errors.New("--tls-cert-file, --tls-private-key-file and --client-ca-file are required")

func (o *options) tlsConfig() (*tls.Config, error) {
	if o.certFile == "" || o.keyFile == "" || o.clientCAFile == "" {
		return nil, errNoCertificates
	}
	certificate, err := tls.LoadX509KeyPair(o.certFile, o.keyFile)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert-file: %w", err)
	}
	authorities, err := os.ReadFile(o.clientCAFile)
	if err != nil {
		return nil, fmt.Errorf("--client-ca-file: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authorities) {
		return nil, fmt.Errorf("--client-ca-file: no certificate in %s", o.clientCAFile)
	}
	return &tls.Config{Certificates: []tls.Certificate{certificate}, ClientCAs: pool, MinVersion: tls.VersionTLS13}, nil
}
