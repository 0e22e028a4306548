// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/operation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/consolelog"
)

// Machines is what region does with machines. Its errors are those of
// pkg/unikorn.
type Machines interface {
	serverReader
	powerSwitch
	consoles
	consoleReader
	photographer
	keyring
}

// Subresources are what is served below an instance.
type Subresources struct {
	Status   *StatusREST
	Power    *PowerREST
	Console  *ConsoleREST
	Log      *LogREST
	Snapshot *SnapshotREST
	SSHKey   *SSHKeyREST
}

// followLimits are of one replica.
var followLimits = consolelog.Limits{
	Interval: 2 * time.Second, Longest: time.Hour,
	PerUser: 8, PerConsole: 16, PerTenant: 64, Total: 256,
}

// NewSubresources returns the storages of what is below instances, which leave
// in notes what the controller has to know.
func NewSubresources(instances *REST, scheme *runtime.Scheme, checks Checks, notes Notes, machines Machines) *Subresources {
	find := &finder{instances: instances, checks: checks, servers: machines, lag: lag}
	requests := &requests{finder: find, DeclarativeValidation: rest.DeclarativeValidation{Scheme: scheme}}
	return &Subresources{
		Status:   &StatusREST{instances: instances},
		Power:    newPowerREST(requests, machines, notes),
		Console:  &ConsoleREST{requests: requests, consoles: machines},
		Log:      newLogREST(requests, machines, followLimits),
		Snapshot: &SnapshotREST{requests: requests, photographer: machines},
		SSHKey:   &SSHKeyREST{requests: requests, keyring: machines},
	}
}

// requests is how every request to a subresource begins.
type requests struct {
	*finder
	rest.DeclarativeValidation
}

// begin checks the form of a request to create, finds its machine, and then has
// the request admitted, so that what admission looks at is known to be possible.
func (r *requests) begin(ctx context.Context, name string, request runtime.Object, errs field.ErrorList, admit rest.ValidateObjectFunc) (*machine, error) {
	if err := r.validate(ctx, name, request, errs); err != nil {
		return nil, err
	}
	found, err := r.toOperate(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := meant(request, found.instance); err != nil {
		return nil, err
	}
	if admit == nil {
		return found, nil
	}
	return found, admit(ctx, request.DeepCopyObject())
}

// meant refuses a request that is about another object of the name, or another
// state of it, than there is now. Where the metadata of the request has a uid or
// a resourceVersion they are preconditions, as for pods/binding: an instance that
// was deleted and made again has the same name and the same server id.
func meant(request runtime.Object, instance *compute.Instance) error {
	metadata, err := meta.Accessor(request)
	if err != nil {
		return err
	}
	for _, precondition := range []struct{ field, want, is string }{
		{"uid", string(metadata.GetUID()), string(instance.UID)},
		{"resourceVersion", metadata.GetResourceVersion(), instance.ResourceVersion},
	} {
		if precondition.want != "" && precondition.want != precondition.is {
			return apierrors.NewConflict(compute.Resource("instances"), instance.Name, fmt.Errorf(
				"the request is for metadata.%s %s, and the instance has %s", precondition.field, precondition.want, precondition.is))
		}
	}
	return nil
}

// validate adds what the markers on the type say to errors that were found
// otherwise.
func (r *requests) validate(ctx context.Context, name string, request runtime.Object, errs field.ErrorList) error {
	errs = r.ValidateDeclaratively(ctx, request, nil, errs, operation.Create, rest.DeclarativeValidationConfig{})
	if len(errs) == 0 {
		return nil
	}
	kinds, _, err := r.ObjectKinds(request)
	if err != nil {
		return err
	}
	return apierrors.NewInvalid(kinds[0].GroupKind(), name, errs)
}

// metadataOf is the metadata of an answer about an instance.
func metadataOf(instance *compute.Instance) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:              instance.Name,
		Namespace:         instance.Namespace,
		UID:               instance.UID,
		ResourceVersion:   instance.ResourceVersion,
		CreationTimestamp: instance.CreationTimestamp,
	}
}
