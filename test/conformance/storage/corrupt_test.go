// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/apis/example"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/utils/ptr"
)

// warnings collects what a client is warned of.
type warnings []string

func (w *warnings) AddWarning(_, text string) { *w = append(*w, text) }

// withCorrupt is a registry with one sound pod and one that somebody has
// spoilt in the host.
func withCorrupt(t *testing.T) (*suiteStore, *genericregistry.Store) {
	t.Helper()
	s := newStore(t, behaving)
	s.pod(t, "sound")
	s.pod(t, "bad", holding)
	spoil(t, s, corruptNode)
	return s, newRegistry(t, s)
}

func spoil(t *testing.T, s *suiteStore, node string) {
	t.Helper()
	patch := []byte(`{"spec":{"nodeName":"` + node + `","pod":{"spec":{"nodeName":"` + node + `"}}}}`)
	if _, err := s.records(t).Patch(t.Context(), "record-bad", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

func alter(t *testing.T, registry *genericregistry.Store, dryRun []string, change func(*example.Pod)) error {
	t.Helper()
	_, _, err := registry.Update(request(t, "patch"), "bad", rest.DefaultUpdatedObjectInfo(nil,
		func(_ context.Context, _, old runtime.Object) (runtime.Object, error) {
			pod := old.DeepCopyObject().(*example.Pod)
			change(pod)
			return pod, nil
		}), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{DryRun: dryRun})
	return err
}

func isCorruption(t *testing.T, err error) {
	t.Helper()
	status, ok := err.(apierrors.APIStatus)
	if !ok || status.Status().Code != http.StatusInternalServerError {
		t.Errorf("got %#v", err)
		return
	}
	for _, wanted := range []string{`"bad"`, "spec.pod"} {
		if !strings.Contains(status.Status().Message, wanted) {
			t.Errorf("%s is not in %q", wanted, status.Status().Message)
		}
	}
}

func TestReadingOfCorruptObjects(t *testing.T) {
	_, registry := withCorrupt(t)
	_, err := registry.Get(request(t, "get"), "bad", &metav1.GetOptions{})
	isCorruption(t, err)

	var warned warnings
	answer, err := registry.List(warning.WithWarningRecorder(request(t, "list"), &warned), &internalversion.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if items := answer.(*example.PodList).Items; len(items) != 1 || items[0].Name != "sound" {
		t.Errorf("listed %v", items)
	}
	if len(warned) != 1 || !strings.Contains(warned[0], `"bad"`) || !strings.Contains(warned[0], "spec.pod") {
		t.Errorf("warned %v", warned)
	}
}

func TestChangingCorruptObjects(t *testing.T) {
	s, registry := withCorrupt(t)
	label := func(pod *example.Pod) { pod.Labels["a"] = "b" }
	spec := func(pod *example.Pod) { pod.Spec.Hostname = "h" }
	status := func(pod *example.Pod) { pod.Status.Message = "m" }
	if err := alter(t, registry, []string{metav1.DryRunAll}, label); err != nil {
		t.Errorf("dry run of metadata: %v", err)
	}
	if err := alter(t, registry, nil, label); err != nil {
		t.Errorf("metadata: %v", err)
	}
	isCorruption(t, alter(t, registry, nil, spec))
	isCorruption(t, alter(t, registry, nil, status))
	if record := s.record(t, "record-bad"); record.GetLabels()["a"] != "b" {
		t.Errorf("stored %v", record)
	}
	spoil(t, s, "repaired")
	if err := alter(t, registry, nil, spec); err != nil {
		t.Errorf("after repair: %v", err)
	}
}

func TestDeletingCorruptObjects(t *testing.T) {
	for name, remove := range map[string]func(*testing.T, *genericregistry.Store) error{
		"one": func(t *testing.T, registry *genericregistry.Store) error {
			_, _, err := registry.Delete(request(t, "delete"), "bad", rest.ValidateAllObjectFunc, propagating(metav1.DeletePropagationForeground))
			return err
		},
		"a collection": func(t *testing.T, registry *genericregistry.Store) error {
			_, err := registry.DeleteCollection(request(t, "deletecollection"), rest.ValidateAllObjectFunc, &metav1.DeleteOptions{}, &internalversion.ListOptions{})
			return err
		},
		"unsafely": func(t *testing.T, registry *genericregistry.Store) error {
			_, _, err := registry.GetCorruptObjDeleter().Delete(request(t, "delete"), "bad", rest.ValidateAllObjectFunc,
				&metav1.DeleteOptions{IgnoreStoreReadErrorWithClusterBreakingPotential: ptr.To(true)})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, registry := withCorrupt(t)
			if err := remove(t, registry); err != nil {
				t.Fatal(err)
			}
			if s.record(t, "record-bad").GetDeletionTimestamp() == nil {
				t.Error("it is not being deleted")
			}
		})
	}
}

func TestUnsafeDeletionOfASoundObject(t *testing.T) {
	s, registry := withCorrupt(t)
	_, _, err := registry.GetCorruptObjDeleter().Delete(request(t, "delete"), "sound", rest.ValidateAllObjectFunc,
		&metav1.DeleteOptions{IgnoreStoreReadErrorWithClusterBreakingPotential: ptr.To(true)})
	if !apierrors.IsConflict(err) {
		t.Errorf("got %v", err)
	}
	s.record(t, "record-sound")
}

func TestWatchingCorruptObjects(t *testing.T) {
	s := newStore(t, behaving)
	s.pod(t, "bad")
	w, err := s.Store.Watch(t.Context(), "/pods/"+namespace, storage.ListOptions{ResourceVersion: "0", Predicate: storage.Everything, Recursive: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	spoil(t, s, corruptNode)
	spoil(t, s, "repaired")
	s.pod(t, "another")
	var got []string
	for range 4 {
		got = append(got, next(t, w))
	}
	if want := []string{"ADDED bad", "DELETED bad", "ADDED bad", "ADDED another"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
