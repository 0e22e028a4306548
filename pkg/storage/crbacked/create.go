// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"
)

// Create implements storage.Interface. The key exists if the façade's name is
// taken in its namespace, or if the custom resource's is. Objects do not
// expire: the time to live is not looked at.
func (s *Store[O, C]) Create(ctx context.Context, key string, obj, out runtime.Object, _ uint64) error {
	at, err := s.object(key)
	if err != nil {
		return err
	}
	if version, err := s.versioner.ObjectResourceVersion(obj); err == nil && version != 0 {
		return storage.ErrResourceVersionSetOnCreate
	}
	// Before the write, which may cost something, not only after it.
	holder, err := s.find(ctx, at.namespace, at.name, "")
	if err != nil {
		return err
	}
	if holder != nil {
		return storage.NewKeyExistsError(key, 0)
	}
	return s.insert(ctx, at, obj.(O), out)
}

// insert writes a new object of a name that was free when looked up.
func (s *Store[O, C]) insert(ctx context.Context, at scope, obj O, out runtime.Object) error {
	cr, err := s.newResource(at, obj)
	if err != nil {
		return err
	}
	created, err := s.writer.Create(ctx, cr)
	if s.naming.isTaken(err) {
		return s.config.Collision(at.key, obj)
	}
	if err != nil {
		return s.naming.hostError(err, cr.GetName(), at.name)
	}
	if err := s.confirmName(ctx, at, created); err != nil {
		return err
	}
	_, err = s.answer(created, out)
	return err
}

func (s *Store[O, C]) newResource(at scope, obj O) (cr C, err error) {
	// A create by apply may carry a version.
	if err := s.versioner.PrepareObjectForStorage(obj); err != nil {
		return cr, fmt.Errorf("prepare %s for storage: %w", at.key, err)
	}
	crName, err := s.mapper.CRName(obj)
	if err != nil {
		return cr, err
	}
	cr = s.mapper.NewResource()
	s.meta.toNew(objectMeta(obj), at, crName, objectMeta(cr))
	if err := s.mapper.ToCR(obj, cr); err != nil {
		return cr, err
	}
	s.meta.seal(objectMeta(obj), objectMeta(cr), at.name, "")
	return cr, nil
}

// confirmName makes sure that a created object is the only one of its name.
// The look-up is at the very version of the write: everyone who was earlier is
// seen there and nobody who came later, so of any number of racing creations
// the first stays, and only the first.
func (s *Store[O, C]) confirmName(ctx context.Context, at scope, created *Stored[C]) error {
	if s.config.NameLabel == "" {
		return nil
	}
	// What is written has to be confirmed or withdrawn, whatever became of the
	// caller.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.config.SettleTimeout)
	defer cancel()

	var holders []*Stored[C]
	lookup := persistently(ctx, func() error {
		var err error
		holders, err = s.holders(ctx, at.namespace, at.name, metav1.ListOptions{
			ResourceVersion:      created.Object.GetResourceVersion(),
			ResourceVersionMatch: metav1.ResourceVersionMatchExact,
		})
		return err
	})
	if lookup == nil && alone(holders, created) {
		return nil
	}
	if err := persistently(ctx, func() error { return s.withdraw(ctx, at, created) }); err != nil {
		return err
	}
	if lookup != nil {
		return lookup
	}
	return storage.NewKeyExistsError(at.key, 0)
}

func alone[C Object](holders []*Stored[C], created *Stored[C]) bool {
	for _, holder := range holders {
		if holder.Object.GetUID() != created.Object.GetUID() {
			return false
		}
	}
	return true
}

// withdraw deletes an object whose name was somebody else's. It gives up the
// name first: finalizers may keep it for a while, and to an informer its end
// would otherwise be the end of the object which has the name by right.
func (s *Store[O, C]) withdraw(ctx context.Context, at scope, created *Stored[C]) error {
	cr := objectMeta(created.Object)
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid":    cr.UID,
		"labels": map[string]any{s.config.NameLabel: nil},
	}})
	if err != nil {
		return err
	}
	_, renaming := s.host.patch(ctx, cr.Namespace, cr.Name, patch)
	_, deletion := s.host.delete(ctx, cr, "")
	if isMissing(deletion) || s.naming.isConflict(deletion) {
		return nil // it is gone, or another has come in its place
	}
	if deletion != nil {
		return s.naming.hostError(deletion, cr.Name, at.name)
	}
	if isMissing(renaming) {
		return nil
	}
	return s.naming.hostError(renaming, cr.Name, at.name)
}
