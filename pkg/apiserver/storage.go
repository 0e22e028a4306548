// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/quota"
	"github.com/unikorn-cloud/instance-apiserver/pkg/registry/compute/instance"
	"github.com/unikorn-cloud/instance-apiserver/pkg/storage/computeinstance"
	"github.com/unikorn-cloud/instance-apiserver/pkg/storage/crbacked"
)

const (
	resource = "instances"

	// settleTimeout is how long a create whose answer from the host was lost is
	// followed up, long after its client has been told that time ran out: until
	// then its charge is neither used nor given back.
	settleTimeout = 10 * time.Minute

	deleteCollectionWorkers = 4
	countMetricPollPeriod   = time.Minute
)

type crStore = crbacked.Store[*compute.Instance, *v1alpha1.ComputeInstance]

// storages are all that is served.
type storages struct {
	instances *instance.REST
	below     *instance.Subresources
}

// newStorages puts the storage of instances together, and what is below them:
// the registry's Store over custom resources of the host, with quota charged
// around each write.
func newStorages(config *ExtraConfig) (*storages, error) {
	host, err := crbacked.ClientFor(config.Host, v1alpha1.SchemeGroupVersion)
	if err != nil {
		return nil, err
	}
	backing, err := crbacked.New(crbacked.Config[*compute.Instance, *v1alpha1.ComputeInstance]{
		Host:                    host,
		Mapper:                  computeinstance.Mapper{},
		Facade:                  crbacked.Names{GroupVersion: v1beta1.SchemeGroupVersion, Kind: "Instance", Resource: resource},
		Stored:                  crbacked.Names{GroupVersion: v1alpha1.SchemeGroupVersion, Kind: "ComputeInstance", Resource: "computeinstances"},
		ResourcePrefix:          resource,
		NameLabel:               v1alpha1.LabelInstanceName,
		ForeignName:             ids.IsUUID,
		UIDSalt:                 v1alpha1.InstanceUIDSalt,
		FinalizerPrefix:         compute.GroupName,
		ManagedFieldsAnnotation: v1alpha1.AnnotationManagedFields,
		Fields:                  instance.HostSelectors(),
		FieldManager:            "instance-apiserver",
		Ours:                    quota.SameAllocation,
		Collision:               func(_ string, created *compute.Instance) error { return instance.NameTaken(created) },
		SettleTimeout:           settleTimeout,
		Decorate: func(next crbacked.Writer[*v1alpha1.ComputeInstance]) crbacked.Writer[*v1alpha1.ComputeInstance] {
			return quota.NewWriter(next, config.Allocations, config.Ledger, config.Refunds)
		},
	})
	if err != nil {
		return nil, err
	}
	checks := instance.Checks{
		Tenancy:    config.Tenancy,
		Callers:    config.Callers,
		References: config.References,
		Names:      backing,
	}
	instances, err := instance.NewREST(Scheme, restOptions(backing), checks)
	if err != nil {
		return nil, err
	}
	return &storages{
		instances: instances,
		below:     instance.NewSubresources(instances, Scheme, checks, backing, config.Machines),
	}, nil
}

// byPath are the storages by the path they are served under.
func (s *storages) byPath() map[string]rest.Storage {
	return map[string]rest.Storage{
		resource:               s.instances,
		resource + "/status":   s.below.Status,
		resource + "/power":    s.below.Power,
		resource + "/console":  s.below.Console,
		resource + "/log":      s.below.Log,
		resource + "/snapshot": s.below.Snapshot,
		resource + "/sshkey":   s.below.SSHKey,
	}
}

// restOptions put the storage below the registry's Store. There is no etcd;
// the codec is what a dry run copies objects with.
func restOptions(backing *crStore) generic.RESTOptions {
	return generic.RESTOptions{
		StorageConfig: &storagebackend.ConfigForResource{
			Config: storagebackend.Config{
				Codec:           Codecs.LegacyCodec(v1beta1.SchemeGroupVersion),
				EncodeVersioner: runtime.NewMultiGroupVersioner(v1beta1.SchemeGroupVersion),
			},
			GroupResource: compute.Resource(resource),
		},
		ResourcePrefix:          resource,
		EnableGarbageCollection: true,
		DeleteCollectionWorkers: deleteCollectionWorkers,
		CountMetricPollPeriod:   countMetricPollPeriod,
		Decorator: func(*storagebackend.ConfigForResource, string, func(runtime.Object) (string, error), func() runtime.Object, func() runtime.Object, storage.AttrFunc, storage.IndexerFuncs, *cache.Indexers) (storage.Interface, factory.DestroyFunc, error) {
			return backing, func() {}, nil
		},
	}
}
