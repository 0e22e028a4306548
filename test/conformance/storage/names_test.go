// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/apis/example"
	"k8s.io/apiserver/pkg/storage"

	"github.com/unikorn-cloud/instance-apiserver/pkg/storage/crbacked"
)

func selecting(field string) storage.SelectionPredicate {
	return storage.SelectionPredicate{Label: labels.Everything(), Field: fields.ParseSelectorOrDie(field)}
}

func listed(t *testing.T, s *suiteStore, key string, opts storage.ListOptions) (names []string, list *example.PodList) {
	t.Helper()
	list = &example.PodList{}
	if err := s.GetList(t.Context(), key, opts, list); err != nil {
		t.Fatal(err)
	}
	for _, pod := range list.Items {
		names = append(names, pod.Name)
	}
	return names, list
}

// A resource of another writer appears under its own name, and one whose label
// says otherwise does not.
func TestNamesOfOtherWriters(t *testing.T) {
	s := newStore(t, behaving)
	s.pod(t, "ours")
	s.foreign(t, "theirs")
	for name, found := range map[string]bool{"ours": true, "theirs": true, "record-ours": false} {
		pod := &example.Pod{}
		err := s.Get(t.Context(), key(name), storage.GetOptions{}, pod)
		if found && (err != nil || pod.Name != name || pod.Namespace != namespace) || !found && !storage.IsNotFound(err) {
			t.Errorf("get %s: got %s, %v", name, pod.Name, err)
		}
	}
	for field, want := range map[string][]string{
		"":                           {"ours", "theirs"},
		"metadata.name!=ours":        {"theirs"},
		"metadata.name!=theirs":      {"ours"},
		"metadata.name!=record-ours": {"ours", "theirs"},
		"spec.nodeName=n":            {"ours", "theirs"},
		"spec.nodeName=x":            nil,
		"metadata.name=theirs":       {"theirs"},
		"metadata.name=ours,metadata.name=theirs": nil,
	} {
		for _, at := range []string{"/pods/" + namespace, "/pods"} {
			if got, _ := listed(t, s, at, storage.ListOptions{Predicate: selecting(field), Recursive: true}); !slices.Equal(got, want) {
				t.Errorf("list %s of %q: got %v, want %v", at, field, got, want)
			}
		}
	}
	for name, want := range map[string][]string{"ours": {"ours"}, "theirs": {"theirs"}, "record-ours": nil} {
		got, list := listed(t, s, key(name), storage.ListOptions{Predicate: selecting("metadata.name=" + name)})
		if !slices.Equal(got, want) || list.ResourceVersion == "" {
			t.Errorf("list %s: got %v at %q, want %v", name, got, list.ResourceVersion, want)
		}
	}
}

func TestUpdateOfAnotherWritersResource(t *testing.T) {
	s := newStore(t, behaving)
	s.foreign(t, "theirs")
	pod := &example.Pod{}
	err := s.GuaranteedUpdate(t.Context(), key("theirs"), pod, false, nil, storage.SimpleUpdate(func(obj runtime.Object) (runtime.Object, error) {
		obj.(*example.Pod).Labels = map[string]string{"a": "b", nameLabel: "mine"}
		return obj, nil
	}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if pod.Name != "theirs" || len(pod.Labels) != 1 {
		t.Errorf("answered %v", pod.ObjectMeta)
	}
	if err := s.Create(t.Context(), key("theirs"), &example.Pod{ObjectMeta: metav1.ObjectMeta{Name: "theirs", Namespace: namespace}}, nil, 0); !storage.IsExist(err) {
		t.Errorf("a second of that name: got %v", err)
	}
}

func next(t *testing.T, w watch.Interface) string {
	t.Helper()
	select {
	case event, open := <-w.ResultChan():
		if !open {
			return "closed"
		}
		pod, ok := event.Object.(*example.Pod)
		if !ok {
			return fmt.Sprintf("%s %v", event.Type, event.Object)
		}
		return fmt.Sprintf("%s %s", event.Type, pod.Name)
	case <-time.After(time.Minute):
		t.Fatal("no event")
		return ""
	}
}

func TestWatchByName(t *testing.T) {
	for name, test := range map[string]struct{ at, name string }{
		"by label":                            {"/pods/" + namespace + "/", "ours"},
		"another writer's":                    {"/pods/" + namespace + "/", "theirs"},
		"by label, in all namespaces":         {"/pods", "ours"},
		"another writer's, in all namespaces": {"/pods", "theirs"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, behaving)
			s.foreign(t, "theirs")
			s.pod(t, "ours")
			_, list := listed(t, s, "/pods", storage.ListOptions{Predicate: storage.Everything, Recursive: true})
			opts := storage.ListOptions{ResourceVersion: list.ResourceVersion, Predicate: selecting("metadata.name=" + test.name), Recursive: true}
			at := test.at
			if strings.HasSuffix(at, "/") {
				at, opts.Recursive = at+test.name, false
			}
			w, err := s.Store.Watch(t.Context(), at, opts)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Stop()
			for _, name := range []string{"ours", "theirs"} {
				pod := &example.Pod{}
				if err := s.Store.Delete(t.Context(), key(name), pod, nil, storage.ValidateAllObjectFunc, nil, storage.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			if got := next(t, w); got != "DELETED "+test.name {
				t.Errorf("got %s", got)
			}
		})
	}
}

// numbered gives every custom resource another name, so that the host does not
// notice two pods of one name.
func numbered() func(*example.Pod) string {
	var last atomic.Int64
	return func(*example.Pod) string { return fmt.Sprintf("record-%d", last.Add(1)) }
}

// Of creations of the same name at the same time the first succeeds, and the
// others leave nothing behind.
func TestRaceForAName(t *testing.T) {
	const racers = 12
	l := behaving
	l.crName = numbered()
	s := newStore(t, l)
	if err := s.provide(t.Context(), key("p")); err != nil {
		t.Fatal(err)
	}
	for round := range 3 {
		name := fmt.Sprintf("p%d", round)
		var won, lost atomic.Int64
		var winner atomic.Pointer[example.Pod]
		var racing sync.WaitGroup
		start := make(chan struct{})
		for range racers {
			racing.Go(func() {
				<-start
				pod := &example.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}}
				switch err := s.Store.Create(t.Context(), key(name), pod, pod, 0); {
				case err == nil:
					won.Add(1)
					winner.Store(pod)
				case storage.IsExist(err):
					lost.Add(1)
				default:
					t.Errorf("create: %v", err)
				}
			})
		}
		close(start)
		racing.Wait()
		if won.Load() != 1 || lost.Load() != racers-1 {
			t.Fatalf("%d won, %d lost", won.Load(), lost.Load())
		}
		pod := &example.Pod{}
		if err := s.Get(t.Context(), key(name), storage.GetOptions{}, pod); err != nil || pod.UID != winner.Load().UID {
			t.Errorf("got %s, %v, want %s", pod.UID, err, winner.Load().UID)
		}
	}
	list, err := s.records(t).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 3 {
		t.Errorf("%d custom resources are left of 3 pods", len(list.Items))
	}
}

// racer lets another creation of the same name be written just before its own.
type racer struct {
	crbacked.Writer[*PodRecord]
	first func() error
}

func (r *racer) Create(ctx context.Context, record *PodRecord) (*crbacked.Stored[*PodRecord], error) {
	if err := r.first(); err != nil {
		return nil, err
	}
	return r.Writer.Create(ctx, record)
}

// Who loses while finalizers hold the loser gives the name up at once: to an
// informer, its end must not be the winner's.
func TestLoserGivesUpTheName(t *testing.T) {
	l := behaving
	l.crName = numbered()
	winners := newStore(t, l)
	l.decorate = func(next crbacked.Writer[*PodRecord]) crbacked.Writer[*PodRecord] {
		return &racer{Writer: next, first: func() error {
			pod := &example.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: namespace}}
			return winners.Create(t.Context(), key("p"), pod, pod, 0)
		}}
	}
	l.crName = func(*example.Pod) string { return "loser" }
	losers := newStore(t, l)
	pod := &example.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: namespace, Finalizers: []string{holding}}}
	if err := losers.Create(t.Context(), key("p"), pod, pod, 0); !storage.IsExist(err) {
		t.Fatalf("got %v", err)
	}
	loser := losers.record(t, "loser")
	if loser.GetDeletionTimestamp() == nil || loser.GetLabels()[nameLabel] != "" {
		t.Errorf("left: %v", loser)
	}
	if got, _ := listed(t, winners, "/pods/"+namespace, storage.ListOptions{Predicate: storage.Everything, Recursive: true}); !slices.Equal(got, []string{"loser", "p"}) {
		t.Errorf("listed %v", got)
	}
}

// Two pods for one custom resource: the host says no, whatever their names.
func TestCustomResourceTaken(t *testing.T) {
	l := behaving
	l.crName = func(*example.Pod) string { return "the-only-one" }
	s := newStore(t, l)
	s.pod(t, "a")
	err := s.Create(t.Context(), key("b"), &example.Pod{ObjectMeta: metav1.ObjectMeta{Name: "b", Namespace: namespace}}, nil, 0)
	if !storage.IsExist(err) {
		t.Errorf("got %v", err)
	}
	err = s.GuaranteedUpdate(t.Context(), key("b"), &example.Pod{}, true, nil, storage.SimpleUpdate(func(runtime.Object) (runtime.Object, error) {
		return &example.Pod{ObjectMeta: metav1.ObjectMeta{Name: "b", Namespace: namespace}}, nil
	}), nil)
	if !storage.IsExist(err) {
		t.Errorf("by update: got %v", err)
	}
	for name, want := range map[string]bool{"the-only-one": true, "another": false} {
		if got, err := s.Exists(t.Context(), namespace, name); err != nil || got != want {
			t.Errorf("%s exists: got %v, %v", name, got, err)
		}
	}
}
