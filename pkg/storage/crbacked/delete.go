// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"
)

// Delete implements storage.Interface. Finalizers at the host are honoured:
// the object is answered, and stays until they are gone. Its version is the
// last one before the deletion, whose own the host does not tell. A corrupt
// object is deleted like any other; one that is not is refused if opts expects
// corruption.
func (s *Store[O, C]) Delete(
	ctx context.Context, key string, out runtime.Object, preconditions *storage.Preconditions,
	validateDeletion storage.ValidateObjectFunc, _ runtime.Object, opts storage.DeleteOptions,
) error {
	at, err := s.object(key)
	if err != nil {
		return err
	}
	return s.untilCurrent(ctx, at, func(stored *Stored[C]) error {
		if stored == nil {
			return storage.NewKeyNotFoundError(key, 0)
		}
		current, corruption := s.facadeCopy(stored)
		if opts.ExpectTransformOrDecodeError && corruption == nil {
			return storage.NewInvalidObjError(key, "the object is not corrupt, delete it the ordinary way")
		}
		if err := preconditions.Check(key, current); err != nil {
			return err
		}
		if err := validateDeletion(ctx, current); err != nil {
			return err
		}
		return s.remove(ctx, at, stored, out)
	})
}

func (s *Store[O, C]) remove(ctx context.Context, at scope, stored *Stored[C], out runtime.Object) error {
	cr := objectMeta(stored.Object)
	deleted, err := s.host.delete(ctx, cr, cr.ResourceVersion)
	if err != nil {
		return s.writeError(err, stored, at.name)
	}
	if deleted == nil {
		deleted = stored
	}
	_, err = s.answer(deleted, out)
	return err
}
