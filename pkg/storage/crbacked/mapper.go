// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Object is what both sides of the mapping are: an API object which embeds
// metav1.ObjectMeta. Façade objects are of the registry's internal type.
type Object interface {
	runtime.Object
	metav1.Object
	metav1.ObjectMetaAccessor
}

// Mapper turns façade objects O into custom resources C and back. Metadata is
// crbacked's, spec and status are the Mapper's. Its methods are pure, safe for
// concurrent use, and do no I/O.
type Mapper[O, C Object] interface {
	// NewObject returns an empty façade object.
	NewObject() O

	// NewResource returns an empty custom resource.
	NewResource() C

	// CRName is the object name of the custom resource of a new object. It is
	// asked once, on create. An error is returned to the client as it is, so it
	// should be an API status.
	CRName(obj O) (string, error)

	// ToObject fills obj's spec and status from cr. It never fails: a value
	// which cannot be read leaves its field in the best form there is and is
	// reported as a Corruption; nil means sound. obj's metadata is filled in
	// already and may be corrected; it may share memory with cr's, which is
	// not used again, so parts of cr may be moved into obj.
	ToObject(cr C, obj O) *Corruption

	// ToCR writes into cr what obj's spec says. On create cr is empty but for
	// metadata; on update it is a copy of what is stored, and what obj does
	// not say stays. Labels, annotations, finalizers and owner references are
	// obj's already and may be amended; the name label and the managed fields
	// are set afterwards. obj is not to be kept or changed. An error is
	// returned to the client as it is.
	ToCR(obj O, cr C) error
}

// Corruption says why a stored custom resource cannot be trusted.
type Corruption struct {
	// Field is the path of the first offending field of the custom resource,
	// such as spec.flavorId; empty if the resource as a whole does not decode.
	Field string
	// Reason says what is wrong with it, without repeating its value.
	Reason string
}

// Error implements error.
func (c *Corruption) Error() string {
	if c.Field == "" {
		return c.Reason
	}
	return fmt.Sprintf("%s: %s", c.Field, c.Reason)
}

// Stored is a custom resource as the host keeps it.
type Stored[C Object] struct {
	// Object is its typed form. It carries nothing but metadata if the
	// resource does not decode into C. It is not to be changed.
	Object C

	undecodable *Corruption
}

// Writer writes custom resources. The host client is one; a decorator given
// in Config.Decorate may do what has to happen around a write. Deletions and
// changes of metadata which a deletion consists of do not come by here.
type Writer[C Object] interface {
	// Create stores a new custom resource, which the callee may amend.
	//
	// An error of the host is definite, nothing was stored, unless
	// OutcomeUnknown says otherwise. AlreadyExists is the host's: the name of
	// the custom resource is taken.
	Create(ctx context.Context, cr C) (*Stored[C], error)

	// Update replaces what stored and desired differ in, provided the host
	// still has stored's resourceVersion: Conflict otherwise. stored may be
	// corrupt, and then desired differs from it in metadata only.
	Update(ctx context.Context, stored *Stored[C], desired C) (*Stored[C], error)
}

func objectMeta(o metav1.ObjectMetaAccessor) *metav1.ObjectMeta {
	return o.GetObjectMeta().(*metav1.ObjectMeta)
}
