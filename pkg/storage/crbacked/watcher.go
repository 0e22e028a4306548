// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/watch"
)

// eventBuffer lets the host's frames be read a little ahead of the client.
const eventBuffer = 100

var _ watch.Interface = &watcher[Object, Object]{}

// watcher turns the host's watch events into the façade's.
type watcher[O, C Object] struct {
	store  *Store[O, C]
	query  *query
	cancel context.CancelFunc
	events chan watch.Event

	// hidden are the objects which this client was told have gone, or never of
	// their being there, because they are corrupt.
	hidden map[types.UID]bool
}

// frame is one event as the host writes it.
type frame struct {
	Type   watch.EventType `json:"type"`
	Object json.RawMessage `json:"object"`
}

func newWatcher[O, C Object](ctx context.Context, cancel context.CancelFunc, s *Store[O, C], q *query, stream io.ReadCloser) *watcher[O, C] {
	w := &watcher[O, C]{
		store:  s,
		query:  q,
		cancel: cancel,
		events: make(chan watch.Event, eventBuffer),
		hidden: map[types.UID]bool{},
	}
	go w.run(ctx, stream)
	return w
}

// Stop implements watch.Interface.
func (w *watcher[O, C]) Stop() { w.cancel() }

// ResultChan implements watch.Interface.
func (w *watcher[O, C]) ResultChan() <-chan watch.Event { return w.events }

func (w *watcher[O, C]) run(ctx context.Context, stream io.ReadCloser) {
	defer close(w.events)
	defer w.cancel()
	defer func() { _ = stream.Close() }()

	frames := json.NewDecoder(stream)
	for {
		var next frame
		if err := frames.Decode(&next); err != nil {
			w.fail(ctx, err)
			return
		}
		event, wanted, err := w.translate(next)
		if err != nil {
			w.fail(ctx, err)
			return
		}
		if wanted && !w.send(ctx, event) {
			return
		}
	}
}

func (w *watcher[O, C]) send(ctx context.Context, event watch.Event) bool {
	select {
	case w.events <- event:
		return true
	case <-ctx.Done():
		return false
	}
}

// fail ends the stream. That it ended is all there is to say of most ends: the
// client resumes.
func (w *watcher[O, C]) fail(ctx context.Context, err error) {
	if ctx.Err() != nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || utilnet.IsProbableEOF(err) || utilnet.IsTimeout(err) {
		return
	}
	status := apierrors.NewInternalError(fmt.Errorf("watch of %s: %w", w.store.naming.facadeResource(), err)).ErrStatus
	w.send(ctx, watch.Event{Type: watch.Error, Object: &status})
}

// translate turns one frame into an event, unless the client is not to see it.
func (w *watcher[O, C]) translate(next frame) (event watch.Event, wanted bool, err error) {
	switch next.Type {
	case watch.Error:
		event, err = w.hostFailure(next.Object)
		return event, true, err
	case watch.Bookmark:
		event, err = w.bookmark(next.Object)
		return event, true, err
	default:
		return w.change(next)
	}
}

func (w *watcher[O, C]) change(next frame) (event watch.Event, wanted bool, err error) {
	stored, err := w.store.host.decode(next.Object)
	if err != nil {
		return event, false, err
	}
	obj := w.store.mapper.NewObject()
	uid := stored.Object.GetUID()
	corruption := w.store.facade(stored, obj)
	if !w.query.admits(obj.GetName()) {
		return event, false, nil
	}
	kind, wanted := w.visible(next.Type, uid, corruption)
	return watch.Event{Type: kind, Object: obj}, wanted, nil
}

// visible decides what a client that never sees corrupt objects sees of an
// event: they leave when they turn corrupt and come back when repaired.
func (w *watcher[O, C]) visible(kind watch.EventType, uid types.UID, corruption *Corruption) (watch.EventType, bool) {
	known := !w.hidden[uid]
	switch {
	case kind == watch.Deleted:
		delete(w.hidden, uid)
		return kind, known
	case corruption != nil:
		w.hidden[uid] = true
		corruptObjects.WithLabelValues(w.store.naming.facadeResource().String(), "watch").Inc()
		return watch.Deleted, known && kind == watch.Modified
	case !known:
		delete(w.hidden, uid)
		return watch.Added, true
	}
	return kind, true
}

// bookmark passes on a version, and whether the initial events end with it.
// The host's object is a custom resource.
func (w *watcher[O, C]) bookmark(raw json.RawMessage) (watch.Event, error) {
	var at metav1.PartialObjectMetadata
	if err := json.Unmarshal(raw, &at); err != nil {
		return watch.Event{}, err
	}
	obj := w.store.mapper.NewObject()
	obj.SetResourceVersion(at.ResourceVersion)
	if end, ok := at.Annotations[metav1.InitialEventsAnnotationKey]; ok {
		obj.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: end})
	}
	return watch.Event{Type: watch.Bookmark, Object: obj}, nil
}

func (w *watcher[O, C]) hostFailure(raw json.RawMessage) (watch.Event, error) {
	var status metav1.Status
	if err := json.Unmarshal(raw, &status); err != nil {
		return watch.Event{}, err
	}
	var rewritten apierrors.APIStatus
	if !errors.As(w.store.naming.hostError(&apierrors.StatusError{ErrStatus: status}, "", ""), &rewritten) {
		return watch.Event{}, errors.New("host reported an error without status")
	}
	answer := rewritten.Status()
	return watch.Event{Type: watch.Error, Object: &answer}, nil
}
