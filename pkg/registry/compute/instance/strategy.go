// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/operation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"
	"k8s.io/utils/clock"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/validation"
)

var (
	_ rest.RESTCreateStrategy            = strategy{}
	_ rest.RESTUpdateStrategy            = strategy{}
	_ rest.RESTDeleteStrategy            = strategy{}
	_ rest.DeclarativeValidationStrategy = strategy{}
)

// strategy is what is particular to instances among the steps of a write. It
// does no I/O: what a write needs to know beside the object, REST has put
// into the request's findings.
type strategy struct {
	rest.DeclarativeValidation
	names.NameGenerator

	clock clock.PassiveClock
}

func newStrategy(scheme *runtime.Scheme) strategy {
	return strategy{
		DeclarativeValidation: rest.DeclarativeValidation{Scheme: scheme},
		NameGenerator:         names.SimpleNameGenerator,
		clock:                 clock.RealClock{},
	}
}

// NamespaceScoped implements rest.RESTCreateStrategy.
func (strategy) NamespaceScoped() bool { return true }

// AllowCreateOnUpdate implements rest.RESTUpdateStrategy.
func (strategy) AllowCreateOnUpdate(context.Context) bool { return false }

// AllowUnconditionalUpdate implements rest.RESTUpdateStrategy.
func (strategy) AllowUnconditionalUpdate(context.Context) bool { return true }

// Canonicalize implements rest.RESTCreateStrategy.
func (strategy) Canonicalize(runtime.Object) {}

// PrepareForCreate implements rest.RESTCreateStrategy.
func (strategy) PrepareForCreate(ctx context.Context, obj runtime.Object) {
	instance, found := obj.(*compute.Instance), findingsFrom(ctx)
	found.warnings = keepReserved(&instance.ObjectMeta, &metav1.ObjectMeta{})
	instance.Finalizers = append([]string{v1alpha1.Finalizer}, instance.Finalizers...)
	metav1.SetMetaDataAnnotation(&instance.ObjectMeta, v1alpha1.AnnotationCreator, found.subject)
	metav1.SetMetaDataAnnotation(&instance.ObjectMeta, v1alpha1.AnnotationPrincipalCreator, found.actor())

	if instance.Spec.Name == "" {
		instance.Spec.Name = instance.Name
	}
	if instance.Spec.OrganizationID == "" {
		instance.Spec.OrganizationID = found.scope.Organization
	}
	if instance.Spec.ProjectID == "" {
		instance.Spec.ProjectID = found.scope.Project
	}
	// The status is the controller's. What the network decides is known now and
	// becomes the stored object's labels.
	instance.Status = compute.InstanceStatus{RegionID: found.facts.region, NetworkID: instance.Spec.NetworkID}
}

// PrepareForUpdate implements rest.RESTUpdateStrategy.
func (s strategy) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	instance, stored, found := obj.(*compute.Instance), old.(*compute.Instance), findingsFrom(ctx)
	if replaces(ctx) && len(instance.Finalizers) == 0 {
		instance.Finalizers = platformFinalizer(stored.Finalizers)
	}
	found.warnings = keepReserved(&instance.ObjectMeta, &stored.ObjectMeta)
	instance.Status = *stored.Status.DeepCopy()

	// A client that leaves out what was filled in for it means no change.
	if instance.Spec.Name == "" {
		instance.Spec.Name = stored.Spec.Name
	}
	if instance.Spec.OrganizationID == "" {
		instance.Spec.OrganizationID = stored.Spec.OrganizationID
	}
	if instance.Spec.ProjectID == "" {
		instance.Spec.ProjectID = stored.Spec.ProjectID
	}
	if !equality.Semantic.DeepEqual(instance.Spec, stored.Spec) {
		s.recordModifier(instance, found)
	}
}

// recordModifier leaves the creator for life and says who changed the spec.
func (s strategy) recordModifier(instance *compute.Instance, found *findings) {
	for key, value := range map[string]string{
		v1alpha1.AnnotationModifier:          found.subject,
		v1alpha1.AnnotationPrincipalModifier: found.actor(),
		v1alpha1.AnnotationModifiedTimestamp: s.clock.Now().UTC().Format(time.RFC3339),
	} {
		metav1.SetMetaDataAnnotation(&instance.ObjectMeta, key, value)
	}
}

// Validate implements rest.RESTCreateStrategy. References were looked up only
// if the form is right, so that a request learns of every error of one kind.
func (strategy) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	instance := obj.(*compute.Instance)
	errs := validation.ValidateInstanceCreate(instance)
	if errs = append(errs, validateUserData(&instance.Spec)...); len(errs) > 0 {
		return errs
	}
	found := findingsFrom(ctx)
	return append(found.validate(instance), found.facts.validateUserData(&instance.Spec)...)
}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (strategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	instance, stored := obj.(*compute.Instance), old.(*compute.Instance)
	errs := validation.ValidateInstanceUpdate(instance, stored)
	if !equality.Semantic.DeepEqual(instance.Spec, stored.Spec) {
		errs = append(errs, validateCoupling(&instance.Spec)...)
	}
	if len(errs) > 0 {
		return errs
	}
	return findingsFrom(ctx).validate(instance)
}

// ValidateDeclaratively implements rest.DeclarativeValidationStrategy. The
// markers that this API's types have are the whole of what is validated by
// them, and those of metadata are not among it. Library code calls some of its
// errors about metadata covered by markers all the same; it would miss their
// counterparts, and complain in the log whenever a client sends such metadata.
func (s strategy) ValidateDeclaratively(ctx context.Context, obj, old runtime.Object, errs field.ErrorList, on operation.Type, config rest.DeclarativeValidationConfig) field.ErrorList {
	for _, err := range errs {
		err.CoveredByDeclarative = false
	}
	return s.DeclarativeValidation.ValidateDeclaratively(ctx, obj, old, errs, on, config)
}

// WarningsOnCreate implements rest.RESTCreateStrategy.
func (strategy) WarningsOnCreate(ctx context.Context, obj runtime.Object) []string {
	spec := &obj.(*compute.Instance).Spec
	return slices.Concat(findingsFrom(ctx).warnings, warnOfLogin(spec), warnOfUserData(spec))
}

// WarningsOnUpdate implements rest.RESTUpdateStrategy.
func (strategy) WarningsOnUpdate(ctx context.Context, obj, old runtime.Object) []string {
	instance, stored := obj.(*compute.Instance), old.(*compute.Instance)
	found := findingsFrom(ctx)
	return append(found.warnings, found.facts.warnOfChange(&instance.Spec, &stored.Spec)...)
}
