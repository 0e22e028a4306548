// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/apis/example"
	"k8s.io/apiserver/pkg/storage"
	storagetesting "k8s.io/apiserver/pkg/storage/testing"
	"k8s.io/client-go/rest"

	"github.com/unikorn-cloud/instance-apiserver/pkg/storage/crbacked"
)

// layout is one way of keeping pods.
type layout struct {
	host      **host
	stored    crbacked.Names
	crName    func(*example.Pod) string
	nameLabel string
}

var (
	// labelled is how instances are kept: the custom resource has a name of its
	// own, and the object's in a label.
	labelled = layout{host: &caching, stored: namespaced, crName: prefixedName, nameLabel: nameLabel}
	// own keeps pods under their own name, without label.
	own = layout{host: &caching, stored: namespaced, crName: ownName}
	// cluster is for pods the suite creates in no namespace.
	cluster = layout{host: &caching, stored: clusterScoped, crName: prefixedName, nameLabel: nameLabel}
	// uncached is own on the host without cache.
	uncached = layout{host: &direct, stored: namespaced, crName: ownName}
)

const nameLabel = "conformance.unikorn-cloud.org/name"

// suiteStore is the storage as the suite wants it: etcd knows no namespaces
// that have to be there first, and no transformer stands in front of ours.
type suiteStore struct {
	*crbacked.Store[*example.Pod, *PodRecord]

	client  rest.Interface
	layout  layout
	failing *atomic.Bool
	start   string
}

var _ storagetesting.InterfaceWithPrefixTransformer = &suiteStore{}

func newStore(t *testing.T, l layout) *suiteStore {
	t.Helper()
	client, err := crbacked.ClientFor((*l.host).config, recordVersion)
	if err != nil {
		t.Fatal(err)
	}
	s := &suiteStore{client: client, layout: l, failing: &atomic.Bool{}}
	s.Store, err = crbacked.New(crbacked.Config[*example.Pod, *PodRecord]{
		Host:                    client,
		Mapper:                  podMapper{crName: l.crName, failing: s.failing},
		Facade:                  crbacked.Names{GroupVersion: example.SchemeGroupVersion, Kind: "Pod", Resource: "pods"},
		Stored:                  l.stored,
		ResourcePrefix:          "pods",
		NameLabel:               l.nameLabel,
		UIDSalt:                 "pods.conformance.unikorn-cloud.org",
		FinalizerPrefix:         "conformance.unikorn-cloud.org",
		ManagedFieldsAnnotation: "conformance.unikorn-cloud.org/managed-fields",
		Fields:                  map[string]crbacked.HostSelector{"spec.nodeName": crbacked.ByField("spec.nodeName")},
		FieldManager:            "conformance",
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
	ctx := t.Context()
	requests := []*rest.Request{s.client.Delete()}
	if s.layout.stored == namespaced {
		requests = nil
		namespaces, err := s.host().client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, namespace := range namespaces.Items {
			requests = append(requests, s.client.Delete().Namespace(namespace.Name))
		}
	}
	for _, request := range requests {
		if err := request.Resource(s.layout.stored.Resource).Do(ctx).Error(); err != nil {
			t.Fatalf("remove pods: %v", err)
		}
	}
}

// Create makes the namespace first.
func (s *suiteStore) Create(ctx context.Context, key string, obj, out runtime.Object, ttl uint64) error {
	if err := s.provide(ctx, key); err != nil {
		return err
	}
	return s.Store.Create(ctx, key, obj, out, ttl)
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
	return s.Store.GuaranteedUpdate(ctx, key, destination, ignoreNotFound, preconditions, tryUpdate, suggestion)
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
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: segments[2]}}
	_, err := s.host().client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

// UpdatePrefixTransformer does nothing: nothing is transformed on its way to
// the host. Tests that use it for more than a hook are left out.
func (s *suiteStore) UpdatePrefixTransformer(storagetesting.PrefixTransformerModifier) func() {
	return func() {}
}

// isStored checks that the host has a record for a key.
func (s *suiteStore) isStored(ctx context.Context, t *testing.T, key string) {
	t.Helper()
	if err := s.Get(ctx, key, storage.GetOptions{}, &example.Pod{}); err != nil {
		t.Errorf("%s is not stored: %v", key, err)
	}
}
