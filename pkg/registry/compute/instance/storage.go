// SPDX-License-Identifier: Apache-2.0

// Package instance serves the resource instances: its strategy, its storage
// and its subresources.
package instance

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/quota"
)

var (
	_ rest.StandardStorage           = &REST{}
	_ rest.Scoper                    = &REST{}
	_ rest.SingularNameProvider      = &REST{}
	_ rest.ShortNamesProvider        = &REST{}
	_ rest.CategoriesProvider        = &REST{}
	_ rest.ResetFieldsFilterStrategy = &REST{}
)

// store is the part of the registry's Store that REST serves. It is an
// interface because the Store has a method GetResetFields, which would rule
// out the filter that REST needs instead.
type store interface {
	rest.StandardStorage
	rest.Scoper
	rest.SingularNameProvider
	rest.MayReturnFullObjectDeleter
	rest.CorruptObjectDeleterProvider
}

// REST serves instances. It wraps create and update in order to find out, once
// a request, what the Store's repeated steps need to know.
type REST struct {
	store
}

// NewREST returns the storage of instances over the given options, whose
// decorator makes the storage below the Store.
func NewREST(scheme *runtime.Scheme, options generic.RESTOptions, checks Checks) (*REST, error) {
	strategy := newStrategy(scheme)
	writes := &writes{Checks: checks, strategy: strategy, homes: newHomes()}
	backing := &genericregistry.Store{
		NewFunc:                   func() runtime.Object { return &compute.Instance{} },
		NewListFunc:               func() runtime.Object { return &compute.InstanceList{} },
		DefaultQualifiedResource:  compute.Resource("instances"),
		SingularQualifiedResource: compute.Resource("instance"),
		CreateStrategy:            strategy,
		UpdateStrategy:            strategy,
		DeleteStrategy:            strategy,
		TableConvertor:            tableConvertor{},
		BeginCreate:               writes.beginCreate,
		BeginUpdate:               writes.beginUpdate,
		// The stored object goes when the host has seen its last finalizer
		// removed. A delete of ours on top would meet the finalizers of the
		// stored object and do nothing.
		ShouldDeleteDuringUpdate: func(context.Context, string, runtime.Object, runtime.Object) bool { return false },
	}
	if err := backing.CompleteWithOptions(&generic.StoreOptions{RESTOptions: options, AttrFunc: attributesOf}); err != nil {
		return nil, err
	}
	return &REST{store: backing}, nil
}

// Create implements rest.Creater.
func (r *REST) Create(ctx context.Context, obj runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	// The storage refuses a version too, but only after the charge, and a dry
	// run does not come that far.
	if version := obj.(*compute.Instance).ResourceVersion; version != "" {
		return nil, apierrors.NewBadRequest("metadata.resourceVersion must not be set on an object that is to be created")
	}
	return r.store.Create(forWrite(ctx), obj, onlyChecked(validate), options)
}

// Update implements rest.Updater.
func (r *REST) Update(ctx context.Context, name string, object rest.UpdatedObjectInfo, validateCreate rest.ValidateObjectFunc, validateUpdate rest.ValidateObjectUpdateFunc, forceAllowCreate bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	updated, created, err := r.store.Update(forWrite(ctx), name, object, onlyChecked(validateCreate), onlyCheckedChange(validateUpdate), forceAllowCreate, options)
	return updated, created, patchError(err, name)
}

// forWrite gives a request a place for what is found out on the way.
func forWrite(ctx context.Context) context.Context {
	found := &findings{}
	return withFindings(quota.WithCharge(ctx, &found.charge), found)
}

// ShortNames implements rest.ShortNamesProvider.
func (*REST) ShortNames() []string { return []string{"inst"} }

// Categories implements rest.CategoriesProvider.
func (*REST) Categories() []string { return []string{"unikorn-cloud"} }

// GetResetFieldsFilter implements rest.ResetFieldsFilterStrategy.
func (*REST) GetResetFieldsFilter() map[fieldpath.APIVersion]fieldpath.Filter {
	return map[fieldpath.APIVersion]fieldpath.Filter{
		fieldpath.APIVersion(v1beta1.SchemeGroupVersion.String()): serverFields{},
	}
}
