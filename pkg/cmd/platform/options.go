// SPDX-License-Identifier: Apache-2.0

// Package platform holds the flags by which our commands reach the platform's
// region and identity services.
package platform

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"
	"go.opentelemetry.io/otel/trace"

	"github.com/unikorn-cloud/instance-apiserver/pkg/identity"
	"github.com/unikorn-cloud/instance-apiserver/pkg/quota"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// Options are the flags.
type Options struct {
	RegionHost     string
	RegionCAFile   string
	IdentityHost   string
	IdentityCAFile string
	ClientCertFile string
	ClientKeyFile  string
	// AddressKind is the quota kind of public addresses.
	AddressKind string
}

// NewOptions returns options with defaults.
func NewOptions() *Options {
	return &Options{AddressKind: quota.DefaultAddressKind}
}

// AddFlags adds the flags to the set.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.RegionHost, "region-host", o.RegionHost, "URL of the region service, such as https://region.example.com. Required.")
	flags.StringVar(&o.RegionCAFile, "region-ca-file", o.RegionCAFile, "File with the authorities, in PEM form, that the region service's certificate must come from. Read again when it changes. Required.")
	flags.StringVar(&o.IdentityHost, "identity-host", o.IdentityHost, "URL of the identity service. Required.")
	flags.StringVar(&o.IdentityCAFile, "identity-ca-file", o.IdentityCAFile, "File with the authorities, in PEM form, that the identity service's certificate must come from. Read again when it changes. Required.")
	flags.StringVar(&o.ClientCertFile, "client-cert-file", o.ClientCertFile, "File with this service's certificate for both, in PEM form; its common name must be one the platform knows, such as unikorn-compute. Read again when it changes. Required.")
	flags.StringVar(&o.ClientKeyFile, "client-key-file", o.ClientKeyFile, "File with the RSA key of the certificate, in PEM form. Read again when it changes. Required.")
	flags.StringVar(&o.AddressKind, "address-quota-kind", o.AddressKind, "Kind of quota that public addresses are charged to.")
}

// Validate says which flags are missing.
func (o *Options) Validate() error {
	var errs []error
	for _, flag := range []struct{ name, value string }{
		{"region-host", o.RegionHost},
		{"region-ca-file", o.RegionCAFile},
		{"identity-host", o.IdentityHost},
		{"identity-ca-file", o.IdentityCAFile},
		{"client-cert-file", o.ClientCertFile},
		{"client-key-file", o.ClientKeyFile},
		{"address-quota-kind", o.AddressKind},
	} {
		if flag.value == "" {
			errs = append(errs, fmt.Errorf("--%s is required", flag.name))
		}
	}
	return errors.Join(errs...)
}

// Clients reach the platform.
type Clients struct {
	Region   *region.Client
	Identity *identity.Client
	// Credentials are the certificate and key that both authenticate with.
	Credentials *unikorn.TLSFiles

	files []*unikorn.TLSFiles
}

// Connect makes the clients. It reads the files and contacts nobody. The
// provider makes spans of calls; nil makes none.
func (o *Options) Connect(provider trace.TracerProvider) (*Clients, error) {
	regionFiles, err := unikorn.NewTLSFiles(o.RegionCAFile, o.ClientCertFile, o.ClientKeyFile)
	if err != nil {
		return nil, err
	}
	identityFiles, err := unikorn.NewTLSFiles(o.IdentityCAFile, o.ClientCertFile, o.ClientKeyFile)
	if err != nil {
		return nil, err
	}
	clients := &Clients{Credentials: regionFiles, files: []*unikorn.TLSFiles{regionFiles, identityFiles}}
	if clients.Region, err = region.New(unikorn.Config{Host: o.RegionHost, TLS: regionFiles, TracerProvider: provider}); err != nil {
		return nil, fmt.Errorf("--region-host: %w", err)
	}
	if clients.Identity, err = identity.New(unikorn.Config{Host: o.IdentityHost, TLS: identityFiles, TracerProvider: provider}); err != nil {
		return nil, fmt.Errorf("--identity-host: %w", err)
	}
	return clients, nil
}

// Run takes up changes of the files until ctx ends.
func (c *Clients) Run(ctx context.Context) {
	done := make(chan struct{})
	for _, files := range c.files {
		go func() {
			defer func() { done <- struct{}{} }()
			files.Run(ctx)
		}()
	}
	for range c.files {
		<-done
	}
}
