// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/apis/example"
	"k8s.io/apiserver/pkg/storage"
	storagetesting "k8s.io/apiserver/pkg/storage/testing"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"

	"github.com/unikorn-cloud/instance-apiserver/pkg/storage/crbacked"
)

// layout is one way of keeping pods.
type layout struct {
	host      **host
	stored    crbacked.Names
	crName    func(*example.Pod) string
	nameLabel string
	mapper    func(podMapper) mapper
	decorate  func(crbacked.Writer[*PodRecord]) crbacked.Writer[*PodRecord]
	ours      func(sent, found *PodRecord) bool
	transport transport.WrapperFunc
}

var (
	// labelled is how instances are kept: the custom resource has a name of its
	// own, and the object's in a label.
	labelled = layout{host: &caching, stored: namespaced, crName: prefixedName, nameLabel: nameLabel, mapper: asGiven}
	// own keeps pods under their own name, without label.
	own = layout{host: &caching, stored: namespaced, crName: ownName, mapper: asGiven}
	// cluster is for pods the suite creates in no namespace.
	cluster = layout{host: &caching, stored: clusterScoped, crName: prefixedName, nameLabel: nameLabel, mapper: asGiven}
	// uncached is own on the host without cache.
	uncached = layout{host: &direct, stored: namespaced, crName: ownName, mapper: asGiven}
)

const nameLabel = "conformance.unikorn-cloud.org/name"

// behaving is labelled with all metadata the host's.
var behaving = layout{host: &caching, stored: namespaced, crName: prefixedName, nameLabel: nameLabel, mapper: plainly}

// suiteStore is the storage as the suite wants it: etcd knows no namespaces
// that have to be there first, and no transformer stands in front of ours.
type suiteStore struct {
	*crbacked.Store[*example.Pod, *PodRecord]

	layout  layout
	failing *atomic.Bool
	// start is the version at which the test began.
	start string
	// namespaces are the names of those that are there.
	namespaces sync.Map
}

var _ storagetesting.InterfaceWithPrefixTransformer = &suiteStore{}

func newStore(t *testing.T, l layout) *suiteStore {
	t.Helper()
	config := rest.CopyConfig((*l.host).config)
	if l.transport != nil {
		config.Wrap(l.transport)
	}
	client, err := crbacked.ClientFor(config, recordVersion)
	if err != nil {
		t.Fatal(err)
	}
	s := &suiteStore{layout: l, failing: &atomic.Bool{}}
	s.Store, err = crbacked.New(crbacked.Config[*example.Pod, *PodRecord]{
		Host:                    client,
		Mapper:                  l.mapper(podMapper{crName: l.crName, failing: s.failing}),
		Facade:                  crbacked.Names{GroupVersion: example.SchemeGroupVersion, Kind: "Pod", Resource: "pods"},
		Stored:                  l.stored,
		ResourcePrefix:          "pods",
		NameLabel:               l.nameLabel,
		UIDSalt:                 "pods.conformance.unikorn-cloud.org",
		FinalizerPrefix:         "conformance.unikorn-cloud.org",
		ManagedFieldsAnnotation: "conformance.unikorn-cloud.org/managed-fields",
		Fields:                  map[string]crbacked.HostSelector{"spec.nodeName": crbacked.ByField("spec.nodeName")},
		FieldManager:            "conformance",
		Decorate:                l.decorate,
		Ours:                    l.ours,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.clear(t)
	version, err := s.GetCurrentResourceVersion(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.start = strconv.FormatUint(version, 10)
	return s
}

func (s *suiteStore) host() *host { return *s.layout.host }

// clear removes every pod, whoever left it.
func (s *suiteStore) clear(t *testing.T) {
	t.Helper()
	all := s.recordsOf(t, metav1.NamespaceAll)
	list, err := all.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range list.Items {
		records := s.recordsOf(t, record.GetNamespace())
		if len(record.GetFinalizers()) > 0 {
			_, err := records.Patch(t.Context(), record.GetName(), types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				t.Fatal(err)
			}
		}
		if err := records.Delete(t.Context(), record.GetName(), metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
	}
}

// recordsOf are the custom resources in a namespace, or all if it is empty, as
// the host's own client sees them.
func (s *suiteStore) recordsOf(t *testing.T, namespace string) dynamic.ResourceInterface {
	t.Helper()
	client, err := dynamic.NewForConfig(s.host().config)
	if err != nil {
		t.Fatal(err)
	}
	return client.Resource(schema.GroupVersionResource{
		Group: s.layout.stored.Group, Version: s.layout.stored.Version, Resource: s.layout.stored.Resource,
	}).Namespace(namespace)
}

// Create makes the namespace first.
func (s *suiteStore) Create(ctx context.Context, key string, obj, out runtime.Object, ttl uint64) error {
	if err := s.provide(ctx, key); err != nil {
		return err
	}
	if err := s.Store.Create(ctx, key, obj, out, ttl); err != nil {
		return err
	}
	return s.arrived(ctx)
}

// arrived waits until the host's cache has seen all there is, so that watchers
// are about to: the suite gives them some milliseconds from here.
func (s *suiteStore) arrived(ctx context.Context) error {
	_, err := s.GetCurrentResourceVersion(ctx)
	return err
}

// Get implements storage.Interface.
func (s *suiteStore) Get(ctx context.Context, key string, opts storage.GetOptions, out runtime.Object) error {
	return s.Store.Get(ctx, s.complete(key), opts, out)
}

// Delete implements storage.Interface.
func (s *suiteStore) Delete(
	ctx context.Context, key string, out runtime.Object, preconditions *storage.Preconditions,
	validate storage.ValidateObjectFunc, suggestion runtime.Object, opts storage.DeleteOptions,
) error {
	key = s.complete(key)
	if err := s.Store.Delete(ctx, key, out, preconditions, validate, suggestion, opts); err != nil {
		return err
	}
	return s.tellVersion(ctx, key, out.(*example.Pod))
}

// tellVersion sets the version of a deletion, which the suite asks for and the
// host tells in watches only.
func (s *suiteStore) tellVersion(ctx context.Context, key string, deleted *example.Pod) error {
	w, err := s.Store.Watch(ctx, key, storage.ListOptions{ResourceVersion: deleted.ResourceVersion, Predicate: storage.Everything})
	if err != nil {
		return err
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		if event.Type == watch.Deleted {
			deleted.ResourceVersion = event.Object.(*example.Pod).ResourceVersion
			return nil
		}
	}
	return fmt.Errorf("no event of the deletion of %s", key)
}

// Watch takes version 1 to be when the test began, as it is with an etcd of
// its own.
func (s *suiteStore) Watch(ctx context.Context, key string, opts storage.ListOptions) (watch.Interface, error) {
	if opts.ResourceVersion == "1" {
		opts.ResourceVersion = s.start
	}
	return s.Store.Watch(ctx, key, opts)
}

// GuaranteedUpdate makes the namespace first.
func (s *suiteStore) GuaranteedUpdate(
	ctx context.Context, key string, destination runtime.Object, ignoreNotFound bool,
	preconditions *storage.Preconditions, tryUpdate storage.UpdateFunc, suggestion runtime.Object,
) error {
	key = s.complete(key)
	if err := s.provide(ctx, key); err != nil {
		return err
	}
	if err := s.Store.GuaranteedUpdate(ctx, key, destination, ignoreNotFound, preconditions, tryUpdate, suggestion); err != nil {
		return err
	}
	return s.arrived(ctx)
}

// complete puts a key without namespace into one: the suite uses such keys for
// what does not exist, and the host does not even look.
func (s *suiteStore) complete(key string) string {
	if s.layout.stored == namespaced && strings.Count(key, "/") == 2 {
		return strings.Replace(key, "/pods/", "/pods/default/", 1)
	}
	return key
}

func (s *suiteStore) provide(ctx context.Context, key string) error {
	if s.layout.stored == clusterScoped {
		return nil
	}
	segments := strings.Split(key, "/")
	if len(segments) != 4 {
		return fmt.Errorf("key %q has no namespace", key)
	}
	name := segments[2]
	if _, there := s.namespaces.Load(name); there {
		return nil
	}
	_, err := s.host().client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	s.namespaces.Store(name, true)
	return nil
}

// UpdatePrefixTransformer does nothing: nothing is transformed on its way to
// the host. Tests that use it for more than a hook are left out.
func (*suiteStore) UpdatePrefixTransformer(storagetesting.PrefixTransformerModifier) func() {
	return func() {}
}

// isStored checks that the host has a record for a key.
func (s *suiteStore) isStored(ctx context.Context, t *testing.T, key string) {
	t.Helper()
	if err := s.Get(ctx, key, storage.GetOptions{}, &example.Pod{}); err != nil {
		t.Errorf("%s is not stored: %v", key, err)
	}
}
