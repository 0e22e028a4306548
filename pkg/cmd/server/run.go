// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"net"
	"sync"

	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/util/compatibility"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	netutils "k8s.io/utils/net"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apiserver"
	"github.com/unikorn-cloud/instance-apiserver/pkg/cmd/platform"
	"github.com/unikorn-cloud/instance-apiserver/pkg/quota"
	"github.com/unikorn-cloud/instance-apiserver/pkg/tenancy"
)

// run serves until ctx ends and everything it began is finished.
func run(ctx context.Context, options *Options) error {
	generic, err := genericConfig(options)
	if err != nil {
		return err
	}
	clients, err := options.Platform.Connect(generic.TracerProvider)
	if err != nil {
		return err
	}
	refunds := quota.NewRefunds(clients.Identity)
	config, err := extend(ctx, options, generic, clients, refunds)
	if err != nil {
		return err
	}
	server, err := config.Complete().New()
	if err != nil {
		return err
	}

	// Requests that are still under way when ctx ends may need the platform and
	// may leave something to give back: both end after the last of them.
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { clients.Run(background) })
	defer running.Wait()
	defer stop()
	defer refunds.Drain()
	return server.PrepareRun().RunWithContext(ctx)
}

func genericConfig(options *Options) (*genericapiserver.RecommendedConfig, error) {
	err := options.Generic.SecureServing.MaybeDefaultWithSelfSignedCerts("localhost", nil, []net.IP{netutils.ParseIPSloppy("127.0.0.1")})
	if err != nil {
		return nil, fmt.Errorf("self-signed certificate: %w", err)
	}
	config := genericapiserver.NewRecommendedConfig(apiserver.Codecs)
	config.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()

	namer := openapinamer.NewDefinitionNamer(apiserver.Scheme)
	config.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(apiserver.OpenAPIDefinitions, namer)
	config.OpenAPIConfig.Info.Title = "Unikorn instances"
	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(apiserver.OpenAPIDefinitions, namer)
	config.OpenAPIV3Config.Info.Title = "Unikorn instances"

	if err := options.Generic.ApplyTo(config); err != nil {
		return nil, err
	}
	config.Authentication.Authenticator = anonymousForHealth(config.Authentication.Authenticator)
	return config, nil
}

// unlimited is the configuration of a client that never waits for its turn: a
// request that is written reads its namespace twice, and how much of that the
// host can take is for the host's priority and fairness to say.
func unlimited(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.QPS = -1
	return config
}

// extend adds what an instance API server needs beyond any other.
func extend(ctx context.Context, options *Options, generic *genericapiserver.RecommendedConfig, clients *platform.Clients, refunds *quota.Refunds) (*apiserver.Config, error) {
	host, err := kubernetes.NewForConfig(unlimited(generic.ClientConfig))
	if err != nil {
		return nil, fmt.Errorf("client of the host cluster: %w", err)
	}
	clusterUID, err := platform.ClusterUID(ctx, host)
	if err != nil {
		return nil, err
	}
	namespaces, err := tenancy.NewNamespaces(generic.SharedInformerFactory.Core().V1().Namespaces(), host.CoreV1().Namespaces())
	if err != nil {
		return nil, err
	}
	return &apiserver.Config{
		GenericConfig: generic,
		ExtraConfig: apiserver.ExtraConfig{
			Host:        generic.ClientConfig,
			Tenancy:     namespaces,
			Callers:     options.Callers,
			References:  clients.Region,
			Machines:    clients.Region,
			Allocations: clients.Identity,
			Ledger:      quota.NewLedger(options.Platform.AddressKind, clusterUID),
			Refunds:     refunds,
		},
	}, nil
}
