// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"fmt"
	"strconv"
	"testing"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/apis/example"
	"k8s.io/apiserver/pkg/storage"

	"github.com/unikorn-cloud/instance-apiserver/pkg/storage/crbacked"
)

const managedFields = "conformance.unikorn-cloud.org/managed-fields"

// change updates a pod in place.
func (s *suiteStore) change(t *testing.T, name string, change func(*example.Pod)) *example.Pod {
	t.Helper()
	pod := &example.Pod{}
	err := s.Store.GuaranteedUpdate(t.Context(), key(name), pod, false, nil, storage.SimpleUpdate(func(obj runtime.Object) (runtime.Object, error) {
		change(obj.(*example.Pod))
		return obj, nil
	}), nil)
	if err != nil {
		t.Fatal(err)
	}
	return pod
}

// What another build has put into a custom resource is not lost by an update
// of this one.
func TestUnknownFieldsSurvive(t *testing.T) {
	s := newStore(t, behaving)
	s.pod(t, "p")
	later := []byte(`{"spec":{"pod":{"later":{"a":1},"spec":{"later":true}}}}`)
	if _, err := s.records(t).Patch(t.Context(), "record-p", types.MergePatchType, later, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	s.change(t, "p", func(pod *example.Pod) {
		pod.Spec.Hostname = "h"
		pod.Labels["a"] = "b"
	})
	record := s.record(t, "record-p")
	if value, _, _ := unstructured.NestedInt64(record.Object, "spec", "pod", "later", "a"); value != 1 {
		t.Errorf("stored %v", record.Object["spec"])
	}
	if value, _, _ := unstructured.NestedBool(record.Object, "spec", "pod", "spec", "later"); !value {
		t.Errorf("stored %v", record.Object["spec"])
	}
	if value, _, _ := unstructured.NestedString(record.Object, "spec", "pod", "spec", "hostname"); value != "h" {
		t.Errorf("stored %v", record.Object["spec"])
	}
}

func TestMetadata(t *testing.T) {
	s := newStore(t, behaving)
	owner := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: "u"}
	created := &example.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: "p", Namespace: namespace, GenerateName: "p-", UID: "wish", Generation: 7,
		Labels:          map[string]string{"a": "b", nameLabel: "other"},
		Annotations:     map[string]string{"c": "d", managedFields: "forged"},
		Finalizers:      []string{holding},
		OwnerReferences: []metav1.OwnerReference{owner},
	}}
	pod := &example.Pod{}
	if err := s.Create(t.Context(), key("p"), created, pod, 0); err != nil {
		t.Fatal(err)
	}
	record := s.record(t, "record-p")
	want := metav1.ObjectMeta{
		Name: "p", Namespace: namespace, GenerateName: "p-",
		UID:               crbacked.FacadeUID(record.GetUID(), "pods.conformance.unikorn-cloud.org"),
		ResourceVersion:   record.GetResourceVersion(),
		Generation:        record.GetGeneration(),
		CreationTimestamp: record.GetCreationTimestamp(),
		Labels:            map[string]string{"a": "b", nameLabel: "p"},
		Annotations:       map[string]string{"c": "d"},
		Finalizers:        []string{holding},
		OwnerReferences:   []metav1.OwnerReference{owner},
	}
	if !equality.Semantic.DeepEqual(pod.ObjectMeta, want) {
		t.Errorf("got %+v\nwant %+v", pod.ObjectMeta, want)
	}
	if record.GetAnnotations()[managedFields] != "" {
		t.Error("a client wrote the managed fields' annotation")
	}
	for _, manager := range record.GetManagedFields() {
		if manager.Manager != "conformance" {
			t.Errorf("the host knows of manager %s", manager.Manager)
		}
	}
}

func TestManagedFields(t *testing.T) {
	s := newStore(t, behaving)
	s.pod(t, "p")
	entries := []metav1.ManagedFieldsEntry{{
		Manager: "me", Operation: metav1.ManagedFieldsOperationApply, APIVersion: "example/v1",
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:nodeName":{}}}`),
	}}
	updated := s.change(t, "p", func(pod *example.Pod) { pod.ManagedFields = entries })
	_, list := listed(t, s, "/pods/"+namespace, storage.ListOptions{Predicate: storage.Everything, Recursive: true})
	got := &example.Pod{}
	if err := s.Get(t.Context(), key("p"), storage.GetOptions{}, got); err != nil {
		t.Fatal(err)
	}
	for name, pod := range map[string]*example.Pod{"update": updated, "get": got, "list": &list.Items[0]} {
		if !equality.Semantic.DeepEqual(pod.ManagedFields, entries) || pod.Annotations != nil {
			t.Errorf("%s: got %v, %v", name, pod.ManagedFields, pod.Annotations)
		}
	}
	same := s.change(t, "p", func(pod *example.Pod) { pod.Annotations = map[string]string{managedFields: "forged"} })
	if same.ResourceVersion != updated.ResourceVersion {
		t.Error("an update that changes nothing was written")
	}
	if again := s.change(t, "p", func(pod *example.Pod) { pod.Labels["x"] = "y" }); !equality.Semantic.DeepEqual(again.ManagedFields, entries) {
		t.Errorf("after another update: %v", again.ManagedFields)
	}
	if record := s.record(t, "record-p"); record.GetAnnotations()[managedFields] == "" {
		t.Error("not where they belong")
	}
	if none := s.change(t, "p", func(pod *example.Pod) { pod.ManagedFields = nil }); len(none.ManagedFields) > 0 {
		t.Errorf("after they were taken away: %v", none.ManagedFields)
	}
}

// Of updates at the same time none is lost.
func TestParallelUpdates(t *testing.T) {
	const writers = 40
	s := newStore(t, behaving)
	s.pod(t, "p")
	var writing errgroup.Group
	for i := range writers {
		writing.Go(func() error {
			return s.Store.GuaranteedUpdate(t.Context(), key("p"), &example.Pod{}, false, nil, storage.SimpleUpdate(func(obj runtime.Object) (runtime.Object, error) {
				pod := obj.(*example.Pod)
				metav1.SetMetaDataAnnotation(&pod.ObjectMeta, fmt.Sprintf("writer-%d", i), "was here")
				count, _ := strconv.Atoi(pod.Annotations["count"])
				pod.Annotations["count"] = strconv.Itoa(count + 1)
				return pod, nil
			}), nil)
		})
	}
	if err := writing.Wait(); err != nil {
		t.Fatal(err)
	}
	pod := &example.Pod{}
	if err := s.Get(t.Context(), key("p"), storage.GetOptions{}, pod); err != nil {
		t.Fatal(err)
	}
	if pod.Annotations["count"] != strconv.Itoa(writers) || len(pod.Annotations) != writers+1 {
		t.Errorf("got %v", pod.Annotations)
	}
}
