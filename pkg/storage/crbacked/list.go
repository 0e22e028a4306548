// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"context"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"
)

// GetList implements storage.Interface. Corrupt objects are left out with a
// warning, but for the requests that have to reach them.
func (s *Store[O, C]) GetList(ctx context.Context, key string, opts storage.ListOptions, out runtime.Object) error {
	at, q, err := s.selected(key, opts)
	if err != nil {
		return err
	}
	options := metav1.ListOptions{
		ResourceVersion:      opts.ResourceVersion,
		ResourceVersionMatch: opts.ResourceVersionMatch,
		Limit:                opts.Predicate.Limit,
		Continue:             opts.Predicate.Continue,
	}
	list, err := s.listHost(ctx, at, q, options)
	if err != nil {
		return err
	}
	return s.fill(ctx, list, q, out)
}

// selected reads key and predicate of a list or watch together.
func (s *Store[O, C]) selected(key string, opts storage.ListOptions) (scope, *query, error) {
	parse := s.parseOne
	if opts.Recursive {
		parse = s.parseMany
	}
	at, ok, err := parse(key)
	if err != nil {
		return scope{}, nil, err
	}
	q, err := s.query(opts.Predicate)
	if err != nil {
		return scope{}, nil, err
	}
	switch {
	case !ok:
		// The host answers, with nothing, since the answer has a version.
		at = scope{key: key}
		q.selectNothing()
	case at.name != "":
		q.names = append(q.names, at.name)
	}
	return at, q, nil
}

func (s *Store[O, C]) listHost(ctx context.Context, at scope, q *query, options metav1.ListOptions) (*hostList[C], error) {
	if len(q.names) > 0 {
		return s.listNamed(ctx, at, q, options)
	}
	q.apply(&options)
	list, err := s.host.list(ctx, at.namespace, options)
	if err != nil {
		return nil, s.naming.hostError(err, "", at.name)
	}
	return list, nil
}

// listNamed lists what has a name: by label, then by object name. The second
// list is not older than the first, whose version the result bears, so a watch
// from there misses nothing. There is no limit, since there is one object of a
// name in a namespace, and a page of two lists could not be continued.
func (s *Store[O, C]) listNamed(ctx context.Context, at scope, q *query, options metav1.ListOptions) (*hostList[C], error) {
	options.Limit = 0
	if !s.byLabel(q.names) {
		return s.listUnlabelled(ctx, at, q, options)
	}
	labelled, err := s.labelled(q)
	if err != nil {
		return nil, err
	}
	labelled.apply(&options)
	result, err := s.host.list(ctx, at.namespace, options)
	if err != nil {
		return nil, s.naming.hostError(err, "", at.name)
	}
	if at.name != "" && len(result.Items) > 0 || options.Continue != "" {
		return result, nil
	}
	if options.ResourceVersionMatch != metav1.ResourceVersionMatchExact {
		options.ResourceVersion = result.Metadata.ResourceVersion
		options.ResourceVersionMatch = metav1.ResourceVersionMatchNotOlderThan
	}
	others, err := s.listUnlabelled(ctx, at, q, options)
	if err != nil {
		return nil, err
	}
	result.Items = append(result.Items, others.Items...)
	return result, nil
}

func (s *Store[O, C]) listUnlabelled(ctx context.Context, at scope, q *query, options metav1.ListOptions) (*hostList[C], error) {
	unlabelled, err := s.unlabelled(q)
	if err != nil {
		return nil, err
	}
	unlabelled.apply(&options)
	list, err := s.host.list(ctx, at.namespace, options)
	if err != nil {
		return nil, s.naming.hostError(err, at.name, at.name)
	}
	return list, nil
}

// fill maps a list of custom resources into out. Objects are mapped where they
// end up, since lists are long.
func (s *Store[O, C]) fill(ctx context.Context, list *hostList[C], q *query, out runtime.Object) error {
	items, err := itemsOf(out)
	if err != nil {
		return err
	}
	result := reflect.MakeSlice(items.Type(), len(list.Items), len(list.Items))
	keepCorrupt := mayMeetCorrupt(ctx)
	n := 0
	for _, stored := range list.Items {
		if !q.admits(s.meta.name(objectMeta(stored.Object))) {
			continue
		}
		obj, ok := result.Index(n).Addr().Interface().(O)
		if !ok {
			return fmt.Errorf("list of %s is not one of %T", items.Type().Elem(), obj)
		}
		corruption := s.facade(stored, obj)
		if corruption != nil && !keepCorrupt {
			s.withheld(ctx, "list", obj, corruption)
			result.Index(n).SetZero()
			continue
		}
		n++
	}
	items.Set(result.Slice(0, n))
	return setListMeta(out, list.Metadata)
}

func itemsOf(out runtime.Object) (reflect.Value, error) {
	pointer, err := meta.GetItemsPtr(out)
	if err != nil {
		return reflect.Value{}, err
	}
	items, err := conversion.EnforcePtr(pointer)
	if err != nil {
		return reflect.Value{}, err
	}
	if items.Kind() != reflect.Slice {
		return reflect.Value{}, fmt.Errorf("items of %T are no slice", out)
	}
	return items, nil
}

func setListMeta(out runtime.Object, from metav1.ListMeta) error {
	list, err := meta.ListAccessor(out)
	if err != nil {
		return err
	}
	list.SetResourceVersion(from.ResourceVersion)
	list.SetContinue(from.Continue)
	list.SetRemainingItemCount(from.RemainingItemCount)
	return nil
}
