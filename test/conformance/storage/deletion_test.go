// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/apis/example"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/ptr"
)

const holding = "conformance.unikorn-cloud.org/holding"

// remove deletes a pod through the registry.
func remove(t *testing.T, registry *genericregistry.Store, name string, options *metav1.DeleteOptions) (*example.Pod, error) {
	t.Helper()
	answer, _, err := registry.Delete(request(t, "delete"), name, rest.ValidateAllObjectFunc, options)
	pod, _ := answer.(*example.Pod)
	return pod, err
}

func propagating(policy metav1.DeletionPropagation) *metav1.DeleteOptions {
	return &metav1.DeleteOptions{PropagationPolicy: &policy}
}

// setFinalizers replaces a pod's finalizers through the registry.
func setFinalizers(t *testing.T, registry *genericregistry.Store, name string, dryRun []string, finalizers ...string) *example.Pod {
	t.Helper()
	answer, _, err := registry.Update(request(t, "update"), name, rest.DefaultUpdatedObjectInfo(nil,
		func(_ context.Context, _, old runtime.Object) (runtime.Object, error) {
			pod := old.DeepCopyObject().(*example.Pod)
			pod.Finalizers = finalizers
			return pod, nil
		}), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{DryRun: dryRun})
	if err != nil {
		t.Fatal(err)
	}
	return answer.(*example.Pod)
}

func TestDeletion(t *testing.T) {
	const (
		foreground = "conformance.unikorn-cloud.org/foreground-deletion"
		orphan     = "conformance.unikorn-cloud.org/orphan"
	)
	for name, test := range map[string]struct {
		options       *metav1.DeleteOptions
		shown, stored []string
	}{
		"background": {propagating(metav1.DeletePropagationBackground), []string{holding}, []string{holding}},
		"foreground": {propagating(metav1.DeletePropagationForeground), []string{holding, metav1.FinalizerDeleteDependents}, []string{holding, foreground}},
		"orphan":     {propagating(metav1.DeletePropagationOrphan), []string{holding, metav1.FinalizerOrphanDependents}, []string{holding, orphan}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, behaving)
			registry := newRegistry(t, s)
			s.pod(t, "p", holding)
			answer, err := remove(t, registry, "p", test.options)
			if err != nil {
				t.Fatal(err)
			}
			if answer.DeletionTimestamp == nil || !slices.Equal(answer.Finalizers, test.shown) {
				t.Errorf("answered %v", answer.ObjectMeta)
			}
			record := s.record(t, "record-p")
			if record.GetDeletionTimestamp() == nil || !slices.Equal(record.GetFinalizers(), test.stored) {
				t.Errorf("stored: deleted at %v, finalizers %v", record.GetDeletionTimestamp(), record.GetFinalizers())
			}
			if answer.ResourceVersion != record.GetResourceVersion() {
				t.Errorf("answered version %s of %s", answer.ResourceVersion, record.GetResourceVersion())
			}

			// One more of another kind, which the host could not take any more.
			if _, err := remove(t, registry, "p", propagating(metav1.DeletePropagationForeground)); err != nil {
				t.Errorf("second deletion: %v", err)
			}
			_ = setFinalizers(t, registry, "p", []string{metav1.DryRunAll})
			if pod := setFinalizers(t, registry, "p", nil, holding); pod.DeletionTimestamp == nil {
				t.Error("a dry run of the end was the end")
			}
			setFinalizers(t, registry, "p", nil)
			if _, err := registry.Get(request(t, "get"), "p", &metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("after the last finalizer: got %v", err)
			}
		})
	}
}

func TestDeletionWithoutFinalizers(t *testing.T) {
	s := newStore(t, behaving)
	registry := newRegistry(t, s)
	s.pod(t, "p")
	if _, err := remove(t, registry, "p", &metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
		t.Fatal(err)
	}
	s.record(t, "record-p")
	if _, err := remove(t, registry, "p", &metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := remove(t, registry, "p", &metav1.DeleteOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a second time: got %v", err)
	}
}

func TestDeletionPreconditions(t *testing.T) {
	for name, finalizers := range map[string][]string{"held": {holding}, "not held": nil} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, behaving)
			registry := newRegistry(t, s)
			pod := s.pod(t, "p", finalizers...)
			for _, wrong := range []metav1.Preconditions{{UID: ptr.To(types.UID("other"))}, {ResourceVersion: ptr.To("1")}} {
				if _, err := remove(t, registry, "p", &metav1.DeleteOptions{Preconditions: &wrong}); !apierrors.IsConflict(err) {
					t.Errorf("%v: got %v", wrong, err)
				}
			}
			right := &metav1.Preconditions{UID: &pod.UID, ResourceVersion: &pod.ResourceVersion}
			if _, err := remove(t, registry, "p", &metav1.DeleteOptions{Preconditions: right}); err != nil {
				t.Errorf("as it was: %v", err)
			}
		})
	}
}

func TestCreateWhileTerminating(t *testing.T) {
	s := newStore(t, behaving)
	registry := newRegistry(t, s)
	s.pod(t, "p", holding)
	if _, err := remove(t, registry, "p", &metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err := registry.Create(request(t, "create"), &example.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: namespace}},
		rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) || err.Error() != `object is being deleted: pods.example.apiserver.k8s.io "p" already exists` {
		t.Errorf("got %v", err)
	}
}

func TestDeletionOfACollection(t *testing.T) {
	s := newStore(t, behaving)
	registry := newRegistry(t, s)
	s.pod(t, "a")
	s.pod(t, "b", holding)
	s.foreign(t, "c")
	if _, err := registry.DeleteCollection(request(t, "deletecollection"), rest.ValidateAllObjectFunc,
		&metav1.DeleteOptions{}, &internalversion.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	list, err := s.records(t).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 1 || list.Items[0].GetName() != "record-b" || list.Items[0].GetDeletionTimestamp() == nil {
		t.Errorf("left: %v", list.Items)
	}
}
