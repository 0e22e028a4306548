// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/apis/example"
	"k8s.io/apiserver/pkg/storage"

	"github.com/unikorn-cloud/instance-apiserver/pkg/storage/crbacked"
)

const attempt = "conformance.unikorn-cloud.org/attempt"

// lossy meddles with the first creations that go to the host.
type lossy struct {
	next   http.RoundTripper
	left   *atomic.Int64
	meddle meddling
}

type meddling func(next http.RoundTripper, request *http.Request) (*http.Response, error)

func (l *lossy) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodPost && l.left.Add(-1) >= 0 {
		return l.meddle(l.next, request)
	}
	return l.next.RoundTrip(request)
}

// losing is behaving over a connection that meddles with times creations.
func losing(times int64, meddle meddling) layout {
	left := &atomic.Int64{}
	left.Store(times)
	l := behaving
	l.transport = func(next http.RoundTripper) http.RoundTripper {
		return &lossy{next: next, left: left, meddle: meddle}
	}
	l.ours = func(sent, found *PodRecord) bool { return sent.Annotations[attempt] == found.Annotations[attempt] }
	return l
}

// lostAnswer has the host create, and the answer lost.
func lostAnswer(next http.RoundTripper, request *http.Request) (*http.Response, error) {
	response, err := next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	_ = response.Body.Close()
	return nil, io.ErrUnexpectedEOF
}

// lostRequest has the request lost.
func lostRequest(http.RoundTripper, *http.Request) (*http.Response, error) {
	return nil, io.ErrUnexpectedEOF
}

// overtaken has somebody else create under the same name, and the answer lost.
func overtaken(t *testing.T) meddling {
	other := newStore(t, behaving)
	return func(http.RoundTripper, *http.Request) (*http.Response, error) {
		other.foreign(t, "record-p")
		return nil, io.ErrUnexpectedEOF
	}
}

// lostAnswerThenRefused has the first answer lost and the second request
// refused before the host looks for the object.
func lostAnswerThenRefused() meddling {
	var lost atomic.Bool
	return func(next http.RoundTripper, request *http.Request) (*http.Response, error) {
		if lost.CompareAndSwap(false, true) {
			return lostAnswer(next, request)
		}
		return &http.Response{
			StatusCode: http.StatusForbidden,
			Header:     http.Header{"Content-Type": {"application/json"}},
			Body:       io.NopCloser(strings.NewReader(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"no"}`)),
			Request:    request,
		}, nil
	}
}

func attempted(id string) *example.Pod {
	return &example.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: namespace, Annotations: map[string]string{attempt: id}}}
}

func TestCreateWhoseAnswerIsLost(t *testing.T) {
	for name, test := range map[string]struct {
		layout func(*testing.T) layout
		taken  bool
	}{
		"after the write":        {func(*testing.T) layout { return losing(1, lostAnswer) }, false},
		"after it, repeatedly":   {func(*testing.T) layout { return losing(3, lostAnswer) }, false},
		"after it, then refused": {func(*testing.T) layout { return losing(2, lostAnswerThenRefused()) }, false},
		"before the write":       {func(*testing.T) layout { return losing(1, lostRequest) }, false},
		"before somebody else's": {func(t *testing.T) layout { return losing(1, overtaken(t)) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			l := test.layout(t)
			s := newStore(t, l)
			if err := s.provide(t.Context(), key("p")); err != nil {
				t.Fatal(err)
			}
			pod := attempted(name)
			err := s.Store.Create(t.Context(), key("p"), pod, pod, 0)
			if test.taken {
				if !storage.IsExist(err) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			record := s.record(t, "record-p")
			if record.GetAnnotations()[attempt] != name || pod.UID != crbacked.FacadeUID(record.GetUID(), "pods.conformance.unikorn-cloud.org") {
				t.Errorf("stored %v, answered %v", record.Object["metadata"], pod.ObjectMeta)
			}
		})
	}
}

// The caller's end is not the end of the question.
func TestCreateWhoseCallerLeaves(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	s := newStore(t, losing(1, func(next http.RoundTripper, request *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(request)
		if err == nil {
			_ = response.Body.Close()
		}
		leave()
		return nil, context.Canceled
	}))
	if err := s.provide(ctx, key("p")); err != nil {
		t.Fatal(err)
	}
	pod := attempted("left")
	if err := s.Store.Create(ctx, key("p"), pod, pod, 0); err != nil {
		t.Fatal(err)
	}
	if ctx.Err() == nil || pod.UID == "" {
		t.Errorf("answered %v", pod.ObjectMeta)
	}
}

func TestCreateWithUnknownOutcome(t *testing.T) {
	l := losing(1, lostAnswer)
	l.ours = nil
	s := newStore(t, l)
	if err := s.provide(t.Context(), key("p")); err != nil {
		t.Fatal(err)
	}
	pod := attempted("unknown")
	err := s.Store.Create(t.Context(), key("p"), pod, pod, 0)
	if !crbacked.OutcomeUnknown(err) {
		t.Errorf("got %v", err)
	}
	if status, ok := err.(apierrors.APIStatus); !ok || status.Status().Code != http.StatusServiceUnavailable || status.Status().Details.RetryAfterSeconds == 0 {
		t.Errorf("status: got %#v", err)
	}
	s.record(t, "record-p")
}

func TestHostThatCannotBeReached(t *testing.T) {
	l := behaving
	nowhere := &atomic.Bool{}
	l.transport = func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			if nowhere.Load() {
				request = request.Clone(request.Context())
				request.URL = &url.URL{Scheme: "http", Host: "127.0.0.1:1", Path: request.URL.Path}
			}
			return next.RoundTrip(request)
		})
	}
	s := newStore(t, l)
	nowhere.Store(true)
	for name, call := range map[string]func() error{
		"get":    func() error { return s.Store.Get(t.Context(), key("p"), storage.GetOptions{}, &example.Pod{}) },
		"create": func() error { return s.Store.Create(t.Context(), key("p"), attempted("x"), nil, 0) },
		"list": func() error {
			return s.GetList(t.Context(), "/pods", storage.ListOptions{Predicate: storage.Everything, Recursive: true}, &example.PodList{})
		},
		"watch": func() error {
			_, err := s.Store.Watch(t.Context(), "/pods", storage.ListOptions{Predicate: storage.Everything, Recursive: true})
			return err
		},
	} {
		if err := call(); !apierrors.IsServiceUnavailable(err) || crbacked.OutcomeUnknown(err) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }
