// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/util/dryrun"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/quota"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/tenancy"
)

// Tenancy says who owns a namespace. A namespace without one owner is a
// *tenancy.UnboundError.
type Tenancy interface {
	Scope(ctx context.Context, namespace string) (tenancy.Scope, error)
}

// Callers says who the caller of a request is to the platform, or refuses one
// it does not know.
type Callers interface {
	Resolve(caller user.Info, organization ids.OrganizationID, project ids.ProjectID) (principal.Caller, error)
}

// StoredNames says whether the object name that an instance would be stored
// under is taken.
type StoredNames interface {
	Exists(ctx context.Context, namespace, name string) (bool, error)
}

// Checks are what a write consults beside the object itself.
type Checks struct {
	Tenancy    Tenancy
	Callers    Callers
	References References
	Names      StoredNames
}

// writes are the steps before the Store's own: the only ones that may ask
// somebody else, and may fail with something other than field errors.
type writes struct {
	Checks

	strategy strategy
	homes    *homes
}

// beginCreate finds out what the strategy needs to know. The order decides
// which of several faults a client is told: its form first, then whether it
// may write here at all, and only then is anybody asked about references.
func (w *writes) beginCreate(ctx context.Context, obj runtime.Object, options *metav1.CreateOptions) (genericregistry.FinishFunc, error) {
	found, namespace := findingsFrom(ctx), genericapirequest.NamespaceValue(ctx)
	found.subject = subjectOf(ctx)

	scope, unbound := w.Tenancy.Scope(ctx, namespace)
	if unbound != nil && !isUnbound(unbound) {
		return nil, unbound
	}
	found.scope = scope

	trial := obj.(*compute.Instance).DeepCopy()
	if err := refuseOversize(trial, nil); err != nil {
		return nil, err
	}
	if rest.BeforeCreate(w.strategy, unheard(ctx), trial) != nil {
		return finishNothing, nil //nolint:nilerr // the Store comes to the same result and words it for the client
	}
	if unbound != nil {
		return nil, apierrors.NewForbidden(compute.Resource("instances"), trial.Name, unbound)
	}
	caller, err := w.resolveCaller(ctx, scope)
	if err != nil {
		return nil, err
	}
	found.caller = caller
	if !found.checked {
		if found.facts, err = gatherForCreate(ctx, w.References, w.homes, caller, scope, &trial.Spec); err != nil {
			return nil, err
		}
		found.checked = true
	}
	if err := refuseSecondCharge(found.charge.Taken, trial); err != nil {
		return nil, err
	}
	found.charge = quota.Charge{
		Due:       true,
		Taken:     found.charge.Taken,
		Confirm:   func(ctx context.Context) error { return w.confirmScope(ctx, scope, trial.Namespace, trial.Name) },
		Principal: caller.Principal,
		Cost:      found.facts.cost(&trial.Spec),
	}
	if dryrun.IsDryRun(options.DryRun) {
		return finishNothing, w.refuseTakenName(ctx, trial)
	}
	return finishNothing, nil
}

// beginUpdate is beginCreate for an update. One that leaves the spec alone asks
// nobody and costs nothing.
func (w *writes) beginUpdate(ctx context.Context, obj, old runtime.Object, _ *metav1.UpdateOptions) (genericregistry.FinishFunc, error) {
	stored := old.(*compute.Instance)
	found := findingsFrom(ctx)
	found.subject = subjectOf(ctx)
	found.scope = tenancy.Scope{Organization: stored.Spec.OrganizationID, Project: stored.Spec.ProjectID}
	found.checked, found.charge = false, quota.Charge{}

	trial := obj.(*compute.Instance).DeepCopy()
	if err := refuseOversize(trial, stored); err != nil {
		return nil, err
	}
	if rest.BeforeUpdate(w.strategy, unheard(ctx), trial, stored) != nil || equality.Semantic.DeepEqual(trial.Spec, stored.Spec) {
		return finishNothing, nil //nolint:nilerr // the Store comes to the same result and words it for the client
	}
	confirm := func(ctx context.Context) error {
		return w.confirmScope(ctx, found.scope, stored.Namespace, stored.Name)
	}
	if err := confirm(ctx); err != nil {
		return nil, err
	}
	caller, err := w.resolveCaller(ctx, found.scope)
	if err != nil {
		return nil, err
	}
	found.caller = caller
	if found.facts, err = gatherForUpdate(ctx, w.References, caller, found.scope, &trial.Spec, stored); err != nil {
		return nil, err
	}
	found.checked = true
	found.charge = quota.Charge{
		Due:       found.facts.flavor.asked || trial.Spec.Networking.PublicIP && !stored.Spec.Networking.PublicIP,
		Confirm:   confirm,
		Principal: caller.Principal,
		Cost:      found.facts.cost(&trial.Spec),
	}
	return found.forget, nil
}

// confirmScope refuses to write or to operate an instance whose namespace has
// come to belong to somebody else.
func (c *Checks) confirmScope(ctx context.Context, scope tenancy.Scope, namespace, name string) error {
	now, err := c.Tenancy.Scope(ctx, namespace)
	if isUnbound(err) {
		return apierrors.NewForbidden(compute.Resource("instances"), name, err)
	}
	if err != nil {
		return err
	}
	if now != scope {
		return apierrors.NewForbidden(compute.Resource("instances"), name,
			errors.New("the namespace is bound to another project than the instance"))
	}
	return nil
}

func (c *Checks) resolveCaller(ctx context.Context, scope tenancy.Scope) (principal.Caller, error) {
	info, ok := genericapirequest.UserFrom(ctx)
	if !ok {
		return principal.Caller{}, apierrors.NewInternalError(errors.New("no user in the request"))
	}
	return c.Callers.Resolve(info, scope.Organization, scope.Project)
}

// refuseTakenName tells a dry run what the write itself would run into.
func (w *writes) refuseTakenName(ctx context.Context, instance *compute.Instance) error {
	name, err := ids.InstanceObjectName(instance.Spec.NetworkID, instance.Spec.Name)
	if err != nil {
		return err
	}
	taken, err := w.Names.Exists(ctx, instance.Namespace, string(name))
	if err != nil || !taken {
		return err
	}
	return NameTaken(instance)
}

// refuseSecondCharge ends the attempts at a generated metadata.name early where
// it is spec.name that is taken: no other metadata.name would help, and each
// attempt is charged before it fails.
func refuseSecondCharge(taken string, instance *compute.Instance) error {
	name, err := ids.InstanceObjectName(instance.Spec.NetworkID, instance.Spec.Name)
	if err != nil {
		return err
	}
	if taken == string(name) {
		return NameTaken(instance)
	}
	return nil
}

// NameTaken is the error of a new instance whose name on the network another
// one has, whatever that is called in the namespace.
func NameTaken(instance *compute.Instance) error {
	err := apierrors.NewAlreadyExists(compute.Resource("instances"), instance.Name)
	err.ErrStatus.Message = fmt.Sprintf("%s: the name %q (spec.name) is taken on network %s",
		err.ErrStatus.Message, instance.Spec.Name, instance.Spec.NetworkID)
	return err
}

// cost is what the instance costs with the flavor that was found.
func (f *facts) cost(spec *compute.InstanceSpec) quota.Cost {
	return quota.CostOf(gpus(f.flavor.found), spec.Networking.PublicIP)
}

func gpus(flavor *region.Flavor) int {
	if flavor == nil || flavor.Spec.GPU == nil {
		return 0
	}
	return flavor.Spec.GPU.PhysicalCount
}

func isUnbound(err error) bool {
	var unbound *tenancy.UnboundError
	return errors.As(err, &unbound)
}

func subjectOf(ctx context.Context) string {
	if info, ok := genericapirequest.UserFrom(ctx); ok {
		return info.GetName()
	}
	return ""
}

func finishNothing(context.Context, bool) {}
