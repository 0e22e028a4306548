// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/storage"
)

// conflictAttempts bounds how often a write that met another is tried again.
// It lets every one of some dozens of writers to one object have its turn; a
// conflict that has another cause must come to an end.
const conflictAttempts = 100

// errStale says that the host has another version than the one written to.
var errStale = errors.New("stored object has changed")

func conflictBackoff() wait.Backoff {
	return wait.Backoff{Duration: time.Millisecond, Factor: 1.5, Jitter: 1, Steps: conflictAttempts, Cap: 25 * time.Millisecond}
}

// change is one call of GuaranteedUpdate.
type change struct {
	scope
	destination    runtime.Object
	ignoreNotFound bool
	preconditions  *storage.Preconditions
	tryUpdate      storage.UpdateFunc
}

// GuaranteedUpdate implements storage.Interface. An update that sets the
// deletion timestamp, which is how the registry deletes what has finalizers,
// becomes a deletion at the host. A suggestion of what is stored is of no use:
// the write needs the custom resource.
func (s *Store[O, C]) GuaranteedUpdate(
	ctx context.Context, key string, destination runtime.Object, ignoreNotFound bool,
	preconditions *storage.Preconditions, tryUpdate storage.UpdateFunc, _ runtime.Object,
) error {
	at, err := s.object(key)
	if err != nil {
		return err
	}
	c := change{
		scope:          at,
		destination:    destination,
		ignoreNotFound: ignoreNotFound,
		preconditions:  preconditions,
		tryUpdate:      tryUpdate,
	}
	return s.untilCurrent(ctx, at, func(stored *Stored[C]) error {
		if stored == nil {
			return s.createByUpdate(ctx, &c)
		}
		return s.update(ctx, &c, stored)
	})
}

// untilCurrent reads the object (nil: there is none) and calls write with it,
// again for as long as that meets newer versions.
func (s *Store[O, C]) untilCurrent(ctx context.Context, at scope, write func(*Stored[C]) error) error {
	stored, err := s.find(ctx, at.namespace, at.name, "")
	if err != nil {
		return err
	}
	backoff := conflictBackoff()
	for range conflictAttempts {
		if err := write(stored); !errors.Is(err, errStale) {
			return err
		}
		if !sleep(ctx, backoff.Step()) {
			return s.naming.hostError(ctx.Err(), "", at.name)
		}
		if stored == nil {
			stored, err = s.find(ctx, at.namespace, at.name, "")
		} else {
			stored, err = s.refresh(ctx, at, stored)
		}
		if err != nil {
			return err
		}
	}
	return storage.NewResourceVersionConflictsError(at.key, 0)
}

func (s *Store[O, C]) createByUpdate(ctx context.Context, c *change) error {
	if !c.ignoreNotFound {
		return storage.NewKeyNotFoundError(c.key, 0)
	}
	empty := s.mapper.NewObject()
	if err := c.preconditions.Check(c.key, empty); err != nil {
		return err
	}
	next, _, err := c.tryUpdate(empty, storage.ResponseMeta{})
	if err != nil {
		return err
	}
	err = s.insert(ctx, c.scope, next.(O), c.destination)
	if !storage.IsExist(err) && !apierrors.IsAlreadyExists(err) {
		return err
	}
	// Somebody created it in between, and then it is an update; unless it is
	// not the name that is taken.
	holder, lookup := s.find(ctx, c.namespace, c.name, "")
	if lookup != nil {
		return lookup
	}
	if holder == nil {
		return err
	}
	return errStale
}

func (s *Store[O, C]) update(ctx context.Context, c *change, stored *Stored[C]) error {
	current, corruption := s.facadeCopy(stored)
	if err := c.preconditions.Check(c.key, current); err != nil {
		return err
	}
	version, err := s.versioner.ObjectResourceVersion(current)
	if err != nil {
		return err
	}
	next, _, err := c.tryUpdate(current, storage.ResponseMeta{ResourceVersion: version})
	if err != nil {
		return err
	}
	obj := next.(O)
	if stored.Object.GetDeletionTimestamp() == nil && obj.GetDeletionTimestamp() != nil {
		return s.terminate(ctx, c, stored, obj)
	}
	if corruption != nil {
		if original, _ := s.facadeCopy(stored); !sameButMetadata(original, obj) {
			return newCorruptError(s.naming.facadeResource(), c.key, c.name, corruption)
		}
	}
	desired, err := s.desired(stored, obj, corruption)
	if err != nil {
		return err
	}
	return s.write(ctx, c, stored, desired)
}

// desired is what is stored with obj laid over it.
func (s *Store[O, C]) desired(stored *Stored[C], obj O, corruption *Corruption) (C, error) {
	desired := stored.Object.DeepCopyObject().(C)
	cr, was := objectMeta(desired), objectMeta(stored.Object)
	s.meta.toStored(objectMeta(obj), cr)
	// Of a corrupt object only metadata changes, and what is wrong with the
	// rest stays for whoever repairs it to see.
	if corruption == nil {
		if err := s.mapper.ToCR(obj, desired); err != nil {
			return desired, err
		}
	}
	s.meta.seal(objectMeta(obj), cr, s.meta.label(was), was.Annotations[s.meta.annotation])
	cr.ManagedFields = was.ManagedFields
	return desired, nil
}

func (s *Store[O, C]) write(ctx context.Context, c *change, stored *Stored[C], desired C) error {
	same, err := unchanged(stored.Object, desired)
	if err != nil {
		return fmt.Errorf("compare %s with what is stored: %w", c.key, err)
	}
	if same {
		_, err := s.answer(stored, c.destination)
		return err
	}
	updated, err := s.writer.Update(ctx, stored, desired)
	if err != nil {
		return s.writeError(err, stored, c.name)
	}
	_, err = s.answer(updated, c.destination)
	return err
}

// terminate deletes the custom resource of an object which finalizers hold.
// The finalizers go first, or the host would drop it before the new ones hold.
func (s *Store[O, C]) terminate(ctx context.Context, c *change, stored *Stored[C], obj O) error {
	last := stored
	finalizers := s.meta.finalizers.swap(obj.GetFinalizers())
	if !slices.Equal(finalizers, stored.Object.GetFinalizers()) {
		desired := stored.Object.DeepCopyObject().(C)
		desired.SetFinalizers(finalizers)
		var err error
		if last, err = s.host.update(ctx, stored, desired); err != nil {
			return s.writeError(err, stored, c.name)
		}
	}
	deleted, err := s.host.delete(ctx, objectMeta(last.Object), last.Object.GetResourceVersion())
	if err != nil {
		return s.writeError(err, stored, c.name)
	}
	if deleted != nil {
		last = deleted
	}
	if _, err := s.answer(last, c.destination); err != nil {
		return err
	}
	if deleted == nil {
		c.destination.(O).SetDeletionTimestamp(obj.GetDeletionTimestamp())
	}
	return nil
}

// writeError tells a write that came too late from one that failed.
func (s *Store[O, C]) writeError(err error, stored *Stored[C], name string) error {
	if isMissing(err) || s.naming.isConflict(err) {
		return errStale
	}
	return s.naming.hostError(err, stored.Object.GetName(), name)
}
