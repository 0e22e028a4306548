// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

// corruptObjects counts sightings, not objects: one that is listed every
// second is counted every second, which is what an alert wants.
var corruptObjects = metrics.NewCounterVec(&metrics.CounterOpts{
	Namespace:      "crbacked",
	Name:           "corrupt_objects_total",
	Help:           "Times a stored object was withheld from a client because it is corrupt, by resource and by what was asked.",
	StabilityLevel: metrics.ALPHA,
}, []string{"resource", "request"})

func init() { legacyregistry.MustRegister(corruptObjects) }

// mayMeetCorrupt tells whether the request is one that has to reach corrupt
// objects: changes of metadata and deletion. The registry reads an object
// before it deletes it, and lists a collection, on its own and through this
// storage; the context is all that tells these reads from a client's.
func mayMeetCorrupt(ctx context.Context) bool {
	info, ok := genericapirequest.RequestInfoFrom(ctx)
	if !ok || info.Subresource != "" {
		return false
	}
	switch info.Verb {
	case "update", "patch", "delete", "deletecollection":
		return true
	}
	return false
}

// corruptError is what a client is told. The storage error inside is what the
// registry recognises.
type corruptError struct {
	message string
	inner   *storage.StorageError
}

func (e *corruptError) Error() string { return e.message }
func (e *corruptError) Unwrap() error { return e.inner }

func newCorruptError(resource schema.GroupResource, key, name string, corruption *Corruption) error {
	return &corruptError{
		message: fmt.Sprintf("%s %q is corrupt in storage: %v", resource, name, corruption),
		inner:   storage.NewCorruptObjError(key, corruption),
	}
}

// withheld records that a corrupt object was left out of a list.
func (s *Store[O, C]) withheld(ctx context.Context, request string, obj metav1.Object, corruption *Corruption) {
	corruptObjects.WithLabelValues(s.naming.facadeResource().String(), request).Inc()
	warning.AddWarning(ctx, "", fmt.Sprintf("%s %q in namespace %q is left out: it is corrupt in storage: %v",
		s.naming.facadeResource(), obj.GetName(), obj.GetNamespace(), corruption))
}

// sameButMetadata tells whether two façade objects differ in metadata only.
func sameButMetadata[O Object](a, b O) bool {
	x, y := a.DeepCopyObject().(O), b.DeepCopyObject().(O)
	*objectMeta(x), *objectMeta(y) = metav1.ObjectMeta{}, metav1.ObjectMeta{}
	x.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	y.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return equality.Semantic.DeepEqual(x, y)
}
