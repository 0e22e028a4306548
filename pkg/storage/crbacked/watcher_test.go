// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
)

// recordFrame is a watch event of the host about one custom resource.
func recordFrame(kind watch.EventType, uid string, size int, version string) string {
	return fmt.Sprintf(`{"type":%q,"object":{"apiVersion":"example.com/v1alpha1","kind":"WidgetRecord","metadata":`+
		`{"name":"record-of-%s","namespace":"ns","uid":%q,"resourceVersion":%q,"labels":{"example.com/name":%q}},"spec":{"size":%d}}}`,
		kind, uid, uid, version, uid, size)
}

// watched returns what a client sees of frames which a host sends.
func watched(t *testing.T, frames ...string) []string {
	t.Helper()
	s := newWidgetStore(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") != "true" {
			t.Errorf("asked for %s", r.URL)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, strings.Join(frames, "\n"))
	}))
	w, err := s.Watch(t.Context(), "/widgets/ns", storage.ListOptions{ResourceVersion: "1", Predicate: storage.Everything, Recursive: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	var seen []string
	for {
		select {
		case event, open := <-w.ResultChan():
			if !open {
				return seen
			}
			seen = append(seen, describe(event))
		case <-time.After(time.Minute):
			t.Fatal("the watch does not end with the stream")
		}
	}
}

func describe(event watch.Event) string {
	switch obj := event.Object.(type) {
	case *widget:
		return fmt.Sprintf("%s %s@%s size %d%s", event.Type, obj.Name, obj.ResourceVersion, obj.Size, initialEventsEnd(obj))
	case *metav1.Status:
		return fmt.Sprintf("%s %d %s", event.Type, obj.Code, obj.Message)
	}
	return fmt.Sprintf("%s %T", event.Type, event.Object)
}

func initialEventsEnd(obj *widget) string {
	if obj.Annotations[metav1.InitialEventsAnnotationKey] == "true" {
		return " end"
	}
	return ""
}

func TestWatchTranslates(t *testing.T) {
	const odd = `{"type":"MODIFIED","object":{"kind":"WidgetRecord","metadata":{"name":"record-of-a","uid":"a","resourceVersion":"5","labels":{"example.com/name":"a"}},"spec":{"size":"large"}}}`
	for name, test := range map[string]struct{ frames, want []string }{
		"life": {
			[]string{recordFrame(watch.Added, "a", 1, "2"), recordFrame(watch.Modified, "a", 2, "3"), recordFrame(watch.Deleted, "a", 2, "4")},
			[]string{"ADDED a@2 size 1", "MODIFIED a@3 size 2", "DELETED a@4 size 2"},
		},
		"corrupt from the start": {
			[]string{recordFrame(watch.Added, "a", -1, "2"), recordFrame(watch.Modified, "a", -2, "3"), recordFrame(watch.Deleted, "a", -2, "4"), recordFrame(watch.Added, "b", 1, "5")},
			[]string{"ADDED b@5 size 1"},
		},
		"turns corrupt and is repaired": {
			[]string{recordFrame(watch.Added, "a", 1, "2"), recordFrame(watch.Modified, "a", -1, "3"), recordFrame(watch.Modified, "a", -1, "4"), recordFrame(watch.Modified, "a", 2, "5"), recordFrame(watch.Modified, "a", 3, "6")},
			[]string{"ADDED a@2 size 1", "DELETED a@3 size -1", "ADDED a@5 size 2", "MODIFIED a@6 size 3"},
		},
		"corrupt when first heard of, known from a list": {
			[]string{recordFrame(watch.Modified, "a", -1, "3"), recordFrame(watch.Deleted, "a", -1, "4")},
			[]string{"DELETED a@3 size -1"},
		},
		"does not decode": {
			[]string{recordFrame(watch.Added, "a", 1, "2"), odd},
			[]string{"ADDED a@2 size 1", "DELETED a@5 size 0"},
		},
		"bookmarks": {
			[]string{
				`{"type":"BOOKMARK","object":{"kind":"WidgetRecord","metadata":{"resourceVersion":"8","creationTimestamp":null,"annotations":{"k8s.io/initial-events-end":"true"}},"spec":{"size":0}}}`,
				`{"type":"BOOKMARK","object":{"kind":"WidgetRecord","metadata":{"resourceVersion":"9","annotations":{"other":"x"}}}}`,
			},
			[]string{"BOOKMARK @8 size 0 end", "BOOKMARK @9 size 0"},
		},
		"the host fails": {
			[]string{`{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"widgetrecords.example.com: too old resource version"}}`},
			[]string{"ERROR 410 widgets.example.com: too old resource version"},
		},
		"garbage": {
			[]string{recordFrame(watch.Added, "a", 1, "2"), "garbage"},
			[]string{"ADDED a@2 size 1", "ERROR 500 Internal error occurred: watch of widgets.example.com: invalid character 'g' looking for beginning of value"},
		},
		"cut off": {
			[]string{recordFrame(watch.Added, "a", 1, "2"), `{"type":"ADDED","obj`},
			[]string{"ADDED a@2 size 1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := watched(t, test.frames...)
			if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

func TestWatchStops(t *testing.T) {
	gone := make(chan struct{})
	s := newWidgetStore(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(gone)
		w.Header().Set("Content-Type", "application/json")
		w.(http.Flusher).Flush()
		for r.Context().Err() == nil {
			_, _ = fmt.Fprintln(w, recordFrame(watch.Added, "a", 1, "2"))
		}
	}))
	w, err := s.Watch(t.Context(), "/widgets/ns", storage.ListOptions{Predicate: storage.Everything, Recursive: true})
	if err != nil {
		t.Fatal(err)
	}
	w.Stop() // unread
	w.Stop()
	select {
	case <-gone:
	case <-time.After(time.Minute):
		t.Fatal("the host still watches")
	}
	for range w.ResultChan() {
	}
}
