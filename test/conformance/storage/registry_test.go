// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/apis/example"
	examplev1 "k8s.io/apiserver/pkg/apis/example/v1"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/names"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
)

// podStrategy lets everything pass.
type podStrategy struct {
	runtime.ObjectTyper
	names.NameGenerator
}

func (podStrategy) NamespaceScoped() bool                                            { return true }
func (podStrategy) PrepareForCreate(context.Context, runtime.Object)                 {}
func (podStrategy) PrepareForUpdate(context.Context, runtime.Object, runtime.Object) {}
func (podStrategy) Validate(context.Context, runtime.Object) field.ErrorList         { return nil }
func (podStrategy) ValidateUpdate(context.Context, runtime.Object, runtime.Object) field.ErrorList {
	return nil
}
func (podStrategy) WarningsOnCreate(context.Context, runtime.Object) []string { return nil }
func (podStrategy) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}
func (podStrategy) Canonicalize(runtime.Object)                   {}
func (podStrategy) AllowCreateOnUpdate(context.Context) bool      { return false }
func (podStrategy) AllowUnconditionalUpdate(context.Context) bool { return true }

// newRegistry is the registry that the API server puts over such a storage.
func newRegistry(t *testing.T, s *suiteStore) *genericregistry.Store {
	t.Helper()
	resource := example.SchemeGroupVersion.WithResource("pods").GroupResource()
	strategy := podStrategy{scheme, names.SimpleNameGenerator}
	registry := &genericregistry.Store{
		NewFunc:                   func() runtime.Object { return &example.Pod{} },
		NewListFunc:               func() runtime.Object { return &example.PodList{} },
		DefaultQualifiedResource:  resource,
		SingularQualifiedResource: resource,
		CreateStrategy:            strategy,
		UpdateStrategy:            strategy,
		DeleteStrategy:            strategy,
		TableConvertor:            rest.NewDefaultTableConvertor(resource),
		ShouldDeleteDuringUpdate: func(context.Context, string, runtime.Object, runtime.Object) bool {
			return false
		},
		PredicateFunc: func(label labels.Selector, field fields.Selector) storage.SelectionPredicate {
			return storage.SelectionPredicate{Label: label, Field: field, GetAttrs: storage.DefaultNamespaceScopedAttr}
		},
	}
	codec := serializer.NewCodecFactory(scheme).LegacyCodec(examplev1.SchemeGroupVersion)
	backend := storagebackend.NewDefaultConfig("", codec)
	backend.EncodeVersioner = examplev1.SchemeGroupVersion
	options := generic.RESTOptions{
		StorageConfig:           backend.ForResource(resource),
		ResourcePrefix:          "pods",
		EnableGarbageCollection: true,
		DeleteCollectionWorkers: 1,
		Decorator: func(*storagebackend.ConfigForResource, string, func(runtime.Object) (string, error), func() runtime.Object,
			func() runtime.Object, storage.AttrFunc, storage.IndexerFuncs, *cache.Indexers,
		) (storage.Interface, factory.DestroyFunc, error) {
			return s.Store, func() {}, nil
		},
	}
	if err := registry.CompleteWithOptions(&generic.StoreOptions{RESTOptions: options, AttrFunc: storage.DefaultNamespaceScopedAttr}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(registry.Destroy)
	return registry
}

const namespace = "behaviour"

// request is the context of a request with this verb in namespace.
func request(t *testing.T, verb string) context.Context {
	t.Helper()
	ctx := genericapirequest.WithNamespace(t.Context(), namespace)
	return genericapirequest.WithRequestInfo(ctx, &genericapirequest.RequestInfo{
		IsResourceRequest: true,
		Verb:              verb,
		APIGroup:          example.SchemeGroupVersion.Group,
		APIVersion:        example.SchemeGroupVersion.Version,
		Resource:          "pods",
		Namespace:         namespace,
	})
}

// records are the custom resources in namespace, which is there.
func (s *suiteStore) records(t *testing.T) dynamic.ResourceInterface {
	t.Helper()
	if err := s.provide(t.Context(), key("any")); err != nil {
		t.Fatal(err)
	}
	return s.recordsOf(t, namespace)
}

// record reads one custom resource by its own name.
func (s *suiteStore) record(t *testing.T, name string) *unstructured.Unstructured {
	t.Helper()
	record, err := s.records(t).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return record
}

// foreign stores a custom resource as another writer would: without the label.
func (s *suiteStore) foreign(t *testing.T, name string) *unstructured.Unstructured {
	t.Helper()
	record := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": recordVersion.String(),
		"kind":       s.layout.stored.Kind,
		"metadata":   map[string]any{"name": name, "namespace": namespace},
		"spec":       map[string]any{"nodeName": "n", "given": map[string]any{"name": name, "uid": "", "generation": int64(0), "creationTimestamp": nil}, "pod": map[string]any{"spec": map[string]any{}, "status": map[string]any{}}},
	}}
	stored, err := s.records(t).Create(t.Context(), record, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

func key(name string) string { return "/pods/" + namespace + "/" + name }

// pod stores a pod of this name with these finalizers.
func (s *suiteStore) pod(t *testing.T, name string, finalizers ...string) *example.Pod {
	t.Helper()
	pod := &example.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Finalizers: finalizers},
		Spec:       example.PodSpec{NodeName: "n"},
	}
	if err := s.Create(t.Context(), key(name), pod, pod, 0); err != nil {
		t.Fatal(err)
	}
	return pod
}
