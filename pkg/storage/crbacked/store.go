// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/storage"
)

var _ storage.Interface = &Store[Object, Object]{}

// Store is a storage.Interface over custom resources of a host cluster. It
// keeps nothing: every call is answered by the host.
type Store[O, C Object] struct {
	config    Config[O, C]
	mapper    Mapper[O, C]
	host      *hostClient[C]
	writer    Writer[C]
	meta      metadata
	naming    naming
	versioner storage.APIObjectVersioner
}

// New returns a storage for config. It does not contact the host.
func New[O, C Object](config Config[O, C]) (*Store[O, C], error) {
	if err := config.complete(); err != nil {
		return nil, fmt.Errorf("storage of %s: %w", config.Facade.Resource, err)
	}
	host := &hostClient[C]{
		rest:         config.Host,
		names:        config.Stored,
		newResource:  config.Mapper.NewResource,
		fieldManager: config.FieldManager,
	}
	settled := &settlingWriter[C]{host: host, ours: config.Ours, timeout: config.SettleTimeout}
	return &Store[O, C]{
		config: config,
		mapper: config.Mapper,
		host:   host,
		writer: config.Decorate(settled),
		meta: metadata{
			nameLabel:   config.NameLabel,
			uidSalt:     config.UIDSalt,
			finalizers:  newFinalizers(config.FinalizerPrefix),
			annotation:  config.ManagedFieldsAnnotation,
			fieldBudget: config.ManagedFieldsBudget,
		},
		naming: newNaming(config.Facade, config.Stored),
	}, nil
}

// Versioner implements storage.Interface. Versions are the host's.
func (s *Store[O, C]) Versioner() storage.Versioner { return s.versioner }

// Exists tells whether a custom resource of this object name is there, which
// a create of the same name would collide with. It is for dry-run creates,
// which look at the storage through Get alone and so see façade names only.
func (s *Store[O, C]) Exists(ctx context.Context, namespace, crName string) (bool, error) {
	_, err := s.host.get(ctx, namespace, crName, "")
	if isMissing(err) {
		return false, nil
	}
	if err != nil {
		return false, s.naming.hostError(err, crName, "")
	}
	return true, nil
}

// Annotate sets annotations of the custom resource of this object name and
// leaves everything else as it is, whatever version is stored. It is for what
// this server has to say itself: no strategy sees it, and no decorated writer.
func (s *Store[O, C]) Annotate(ctx context.Context, namespace, crName string, annotations map[string]string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	if err != nil {
		return err
	}
	_, err = s.host.patch(ctx, namespace, crName, patch)
	return s.naming.hostError(err, crName, "")
}

// Stats implements storage.Interface.
func (s *Store[O, C]) Stats(ctx context.Context) (storage.Stats, error) {
	list, err := s.one(ctx)
	if err != nil {
		return storage.Stats{}, err
	}
	count := int64(len(list.Items))
	if rest := list.Metadata.RemainingItemCount; rest != nil {
		count += *rest
	}
	return storage.Stats{ObjectCount: count}, nil
}

// GetCurrentResourceVersion implements storage.Interface.
func (s *Store[O, C]) GetCurrentResourceVersion(ctx context.Context) (uint64, error) {
	list, err := s.one(ctx)
	if err != nil {
		return 0, err
	}
	version, err := s.versioner.ParseResourceVersion(list.Metadata.ResourceVersion)
	if err != nil || version == 0 {
		return 0, apierrors.NewInternalError(fmt.Errorf("host answered a list with resourceVersion %q", list.Metadata.ResourceVersion))
	}
	return version, nil
}

func (s *Store[O, C]) one(ctx context.Context) (*hostList[C], error) {
	list, err := s.host.list(ctx, metav1.NamespaceAll, metav1.ListOptions{Limit: 1})
	if err != nil {
		return nil, s.naming.hostError(err, "", "")
	}
	return list, nil
}

// ReadinessCheck implements storage.Interface. There is nothing to wait for.
func (*Store[O, C]) ReadinessCheck() error { return nil }

// RequestWatchProgress implements storage.Interface. The Kubernetes API has
// no such request.
func (*Store[O, C]) RequestWatchProgress(context.Context) error { return nil }

// EnableResourceSizeEstimation implements storage.Interface. Sizes are the
// host's business.
func (*Store[O, C]) EnableResourceSizeEstimation(storage.KeysFunc) error { return nil }

// CompactRevision implements storage.Interface. Compaction is the host's and
// not told.
func (*Store[O, C]) CompactRevision() int64 { return 0 }
