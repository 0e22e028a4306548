// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"context"
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
	utilflowcontrol "k8s.io/apiserver/pkg/util/flowcontrol"
)

// Watch implements storage.Interface. It is one watch of the host, which does
// the selecting, the versions and the bookmarks.
func (s *Store[O, C]) Watch(ctx context.Context, key string, opts storage.ListOptions) (watch.Interface, error) {
	at, q, err := s.selected(key, opts)
	if err != nil {
		return nil, err
	}
	w, err := s.startWatch(ctx, at, q, watchOptions(ctx, opts))
	if err != nil && ctx.Err() != nil {
		return watch.NewEmptyWatch(), nil //nolint:nilerr // whoever has left is not told about it
	}
	return w, err
}

func (s *Store[O, C]) startWatch(ctx context.Context, at scope, q *query, options metav1.ListOptions) (watch.Interface, error) {
	q, err := s.watchable(ctx, at, q)
	if err != nil {
		return nil, err
	}
	q.apply(&options)
	ctx, cancel := context.WithCancel(ctx)
	stream, err := s.host.watch(ctx, at.namespace, options)
	if err != nil {
		cancel()
		return nil, s.naming.hostError(err, "", at.name)
	}
	// Priority and fairness holds a seat for the start of a watch, and for all
	// its life if it does not say when that is over.
	utilflowcontrol.WatchInitialized(ctx)
	return newWatcher(ctx, cancel, s, q, stream), nil
}

// watchable makes of a query by name one that a single watch can answer: two
// merged would deliver versions out of order, and a client that resumes from
// the last it saw would miss events.
func (s *Store[O, C]) watchable(ctx context.Context, at scope, q *query) (*query, error) {
	switch {
	case len(q.names) == 0:
		return q, nil
	case !s.byLabel(q.names):
		return s.unlabelled(q)
	case at.name == "":
		// One name in all namespaces: the host cannot tell, and who asks for
		// this is not in a hurry.
		everyName := *q
		everyName.only, everyName.names = q.names, nil
		return &everyName, nil
	}
	other, err := s.findUnlabelled(ctx, at.namespace, at.name, "")
	if err != nil {
		return nil, err
	}
	if other != nil {
		return s.unlabelled(q)
	}
	return s.labelled(q)
}

func watchOptions(ctx context.Context, opts storage.ListOptions) metav1.ListOptions {
	options := metav1.ListOptions{
		ResourceVersion:      opts.ResourceVersion,
		ResourceVersionMatch: opts.ResourceVersionMatch,
		SendInitialEvents:    opts.SendInitialEvents,
		AllowWatchBookmarks:  opts.Predicate.AllowWatchBookmarks || opts.ProgressNotify,
	}
	if options.SendInitialEvents != nil {
		// The registry does not pass on the only value there is.
		options.ResourceVersionMatch = metav1.ResourceVersionMatchNotOlderThan
	}
	if deadline, ok := ctx.Deadline(); ok {
		// The host sends its last bookmark shortly before the end it knows of.
		seconds := int64(math.Ceil(time.Until(deadline).Seconds()))
		seconds = max(seconds, 1)
		options.TimeoutSeconds = &seconds
	}
	return options
}
