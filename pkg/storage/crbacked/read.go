// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"
)

// facade maps a custom resource into obj, whatever state it is in.
func (s *Store[O, C]) facade(stored *Stored[C], obj O) *Corruption {
	cr := stored.Object
	s.meta.toFacade(objectMeta(cr), objectMeta(obj))
	if stored.undecodable != nil {
		return stored.undecodable
	}
	return s.mapper.ToObject(cr, obj)
}

// facadeCopy maps a custom resource that is still needed.
func (s *Store[O, C]) facadeCopy(stored *Stored[C]) (O, *Corruption) {
	obj := s.mapper.NewObject()
	corruption := s.facade(&Stored[C]{
		Object:      stored.Object.DeepCopyObject().(C),
		undecodable: stored.undecodable,
	}, obj)
	onlyReadableManagedFields(obj)
	return obj, corruption
}

// answer maps a custom resource just written or read into the caller's
// object, whatever was in there.
func (s *Store[O, C]) answer(stored *Stored[C], out runtime.Object) (*Corruption, error) {
	if out == nil {
		return nil, nil
	}
	if err := runtime.SetZeroValue(out); err != nil {
		return nil, err
	}
	return s.facade(stored, out.(O)), nil
}

// Get implements storage.Interface. A corrupt object is an error but for the
// requests that have to reach it.
func (s *Store[O, C]) Get(ctx context.Context, key string, opts storage.GetOptions, out runtime.Object) error {
	at, err := s.object(key)
	if err != nil {
		return err
	}
	stored, err := s.find(ctx, at.namespace, at.name, opts.ResourceVersion)
	if err != nil {
		return err
	}
	if stored == nil {
		if opts.IgnoreNotFound {
			return runtime.SetZeroValue(out)
		}
		return storage.NewKeyNotFoundError(key, 0)
	}
	corruption, err := s.answer(stored, out)
	if err != nil {
		return err
	}
	// A dry run of an update reads this way.
	onlyReadableManagedFields(out.(O))
	if corruption == nil || mayMeetCorrupt(ctx) {
		return nil
	}
	resource := s.naming.facadeResource()
	corruptObjects.WithLabelValues(resource.String(), "get").Inc()
	return newCorruptError(resource, key, at.name, corruption)
}
