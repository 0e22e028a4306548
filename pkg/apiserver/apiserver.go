// SPDX-License-Identifier: Apache-2.0

// Package apiserver is the instance API server: the generic API server with
// the group compute.unikorn-cloud.org installed.
package apiserver

import (
	"fmt"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"
	restclient "k8s.io/client-go/rest"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/quota"
	"github.com/unikorn-cloud/instance-apiserver/pkg/registry/compute/instance"
)

// ExtraConfig is what this server needs beyond any API server.
type ExtraConfig struct {
	// Host is the connection to the cluster that stores the instances.
	Host *restclient.Config
	// Tenancy, Callers and References are consulted before a write.
	Tenancy    instance.Tenancy
	Callers    instance.Callers
	References instance.References
	// Machines are operated through the subresources.
	Machines instance.Machines
	// Allocations are charged for instances, in the words of the Ledger.
	Allocations quota.Allocations
	Ledger      quota.Ledger
	// Refunds gives back what was charged for nothing. Its owner runs it.
	Refunds *quota.Refunds
}

// Config is the configuration of the server.
type Config struct {
	GenericConfig *genericapiserver.RecommendedConfig
	ExtraConfig   ExtraConfig
}

type completedConfig struct {
	GenericConfig genericapiserver.CompletedConfig
	ExtraConfig   *ExtraConfig
}

// CompletedConfig can only be had from Complete.
type CompletedConfig struct {
	*completedConfig
}

// watchGrace is how long watches may take to end when the server stops. Without
// it they are not told to, and the server waits a minute for its connections.
const watchGrace = 5 * time.Second

// Complete fills in what can be derived.
func (c *Config) Complete() CompletedConfig {
	c.GenericConfig.ShutdownWatchTerminationGracePeriod = watchGrace
	c.GenericConfig.LongRunningFunc = orFollowsLog(c.GenericConfig.LongRunningFunc)
	c.GenericConfig.BuildHandlerChainFunc = withoutStoringSecrets(boundingFollowers(c.GenericConfig.BuildHandlerChainFunc))
	c.GenericConfig.AuditPolicyRuleEvaluator = withoutAuditingSecrets(c.GenericConfig.AuditPolicyRuleEvaluator)
	return CompletedConfig{&completedConfig{
		GenericConfig: c.GenericConfig.Complete(),
		ExtraConfig:   &c.ExtraConfig,
	}}
}

// New returns the server, ready to be prepared and run.
func (c completedConfig) New() (*genericapiserver.GenericAPIServer, error) {
	server, err := c.GenericConfig.New("instance-apiserver", genericapiserver.NewEmptyDelegate())
	if err != nil {
		return nil, err
	}
	storages, err := newStorages(c.ExtraConfig)
	if err != nil {
		return nil, fmt.Errorf("storage of instances: %w", err)
	}
	// A server that stops waits for its connections to become idle, which one
	// that carries a stream never does.
	err = server.AddPreShutdownHook("end-log-streams", func() error {
		storages.below.Log.EndFollowing()
		return nil
	})
	if err != nil {
		return nil, err
	}

	group := genericapiserver.NewDefaultAPIGroupInfo(compute.GroupName, Scheme, ParameterCodec, Codecs)
	group.NegotiatedSerializer = negotiated
	group.VersionedResourcesStorageMap[v1beta1.SchemeGroupVersion.Version] = storages.byPath()
	if err := server.InstallAPIGroup(&group); err != nil {
		return nil, fmt.Errorf("install group %s: %w", compute.GroupName, err)
	}
	return server, nil
}
