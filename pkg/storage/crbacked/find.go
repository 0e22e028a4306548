// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"cmp"
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// find looks an object up by its façade name: by label, and if none has it, by
// object name among those without the label. It returns nil if there is none.
// Empty resourceVersion means the newest state, anything else one not older.
func (s *Store[O, C]) find(ctx context.Context, namespace, name, resourceVersion string) (*Stored[C], error) {
	if s.byLabel([]string{name}) {
		holders, err := s.holders(ctx, namespace, name, notOlderThan(resourceVersion))
		if err != nil {
			return nil, err
		}
		if len(holders) > 0 {
			return holders[0], nil
		}
	}
	return s.findUnlabelled(ctx, namespace, name, resourceVersion)
}

func (s *Store[O, C]) findUnlabelled(ctx context.Context, namespace, name, resourceVersion string) (*Stored[C], error) {
	stored, err := s.host.get(ctx, namespace, name, resourceVersion)
	if isMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, s.naming.hostError(err, name, name)
	}
	if s.meta.label(objectMeta(stored.Object)) != "" {
		return nil, nil
	}
	return stored, nil
}

// holders lists the custom resources that carry a name in their label, the one
// it belongs to first. There is more than one only between the write and the
// withdrawal of a creation that lost a race.
func (s *Store[O, C]) holders(ctx context.Context, namespace, name string, options metav1.ListOptions) ([]*Stored[C], error) {
	q, err := s.labelled(&query{labels: labels.Everything(), names: []string{name}})
	if err != nil {
		return nil, err
	}
	q.apply(&options)
	list, err := s.host.list(ctx, namespace, options)
	if err != nil {
		return nil, s.naming.hostError(err, "", name)
	}
	slices.SortStableFunc(list.Items, func(a, b *Stored[C]) int {
		return byClaim(objectMeta(a.Object), objectMeta(b.Object))
	})
	return list.Items, nil
}

func byClaim(a, b *metav1.ObjectMeta) int {
	if terminating := a.DeletionTimestamp != nil; terminating != (b.DeletionTimestamp != nil) {
		if terminating {
			return 1
		}
		return -1
	}
	if c := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); c != 0 {
		return c
	}
	return cmp.Compare(a.Name, b.Name)
}

// refresh reads stored again, by its object name: the look-up by label makes
// the host go through the whole namespace. It falls back to that if the object
// is no longer the one that has the name.
func (s *Store[O, C]) refresh(ctx context.Context, at scope, stored *Stored[C]) (*Stored[C], error) {
	old := objectMeta(stored.Object)
	fresh, err := s.host.get(ctx, old.Namespace, old.Name, "")
	switch {
	case isMissing(err):
	case err != nil:
		return nil, s.naming.hostError(err, old.Name, at.name)
	case fresh.Object.GetUID() == old.UID && s.meta.name(objectMeta(fresh.Object)) == at.name:
		return fresh, nil
	}
	return s.find(ctx, at.namespace, at.name, "")
}

func notOlderThan(resourceVersion string) metav1.ListOptions {
	if resourceVersion == "" {
		return metav1.ListOptions{}
	}
	return metav1.ListOptions{
		ResourceVersion:      resourceVersion,
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
	}
}
