// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/tenancy"
)

// lag is when to look again at what region may not show yet: its reads are up to
// a second behind its writes (docs/reference/wire.md, "Reads lag writes"), and
// mostly less. What is not there for another reason is asked for no more often.
var lag = wait.Backoff{Duration: 150 * time.Millisecond, Factor: 2, Steps: 4}

// serverReader is what it takes to find a machine.
type serverReader interface {
	networkReader
	Servers(ctx context.Context, credential principal.Credential, selector region.ServerSelector) ([]region.Server, error)
}

// finder leads from the name of an instance to its machine.
type finder struct {
	instances rest.Getter
	checks    Checks
	servers   serverReader
	lag       wait.Backoff
}

// machine is the one server behind an instance.
type machine struct {
	instance *compute.Instance
	// credential is for calls about the server, which are made with the rights
	// of this service: people hold none to servers.
	credential principal.Credential
	server     *region.Server
}

// toRead finds the machine for a request that changes nothing and hands out no
// secret.
func (f *finder) toRead(ctx context.Context, name string) (*machine, error) {
	instance, caller, err := f.identify(ctx, name)
	if err != nil {
		return nil, err
	}
	found := &machine{instance: instance, credential: principal.Service(caller.Principal)}
	found.server, err = f.server(ctx, found)
	return found, err
}

// toOperate finds the machine for a request that does. The cluster's RBAC has
// allowed it; region must agree that the caller belongs to the project. Who does
// not learns nothing else, so that refusal comes before all others.
func (f *finder) toOperate(ctx context.Context, name string) (*machine, error) {
	instance, caller, err := f.identify(ctx, name)
	if err != nil {
		return nil, err
	}
	found := &machine{instance: instance, credential: principal.Service(caller.Principal)}
	var missing error
	group, lookUp := errgroup.WithContext(ctx)
	group.Go(func() error { return confirmCaller(lookUp, f.servers, instance, caller) })
	group.Go(func() error {
		found.server, missing = f.server(lookUp, found)
		return nil
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return found, missing
}

// identify reads the instance and says who calls.
func (f *finder) identify(ctx context.Context, name string) (*compute.Instance, principal.Caller, error) {
	found, err := f.instances.Get(ctx, name, &metav1.GetOptions{})
	if err != nil {
		return nil, principal.Caller{}, err
	}
	instance := found.(*compute.Instance)
	if err := f.checks.confirmScope(ctx, scopeOf(instance), instance.Namespace, instance.Name); err != nil {
		return nil, principal.Caller{}, err
	}
	caller, err := f.checks.resolveCaller(ctx, scopeOf(instance))
	return instance, caller, err
}

// server is the one server of the machine's instance. None may only mean that
// it does not show yet.
func (f *finder) server(ctx context.Context, of *machine) (*region.Server, error) {
	selector := region.ServerSelector{
		NetworkSelector: region.NetworkSelector{
			Organization: of.instance.Spec.OrganizationID,
			Project:      of.instance.Spec.ProjectID,
			Region:       of.instance.Status.RegionID,
			Network:      of.instance.Spec.NetworkID,
		},
		Instance: of.instance.Status.InstanceID,
	}
	var found []region.Server
	err := f.again(ctx, func() (done bool, err error) {
		found, err = f.servers.Servers(ctx, of.credential, selector)
		return len(found) > 0, err
	})
	if err != nil {
		return nil, err
	}
	if len(found) != 1 {
		return nil, inconsistent(of.instance, len(found))
	}
	return &found[0], nil
}

// powerState reads the power state of the machine anew. A state in which region
// would not have refused what it just did refuse is from before, so it looks
// again for another.
func (f *finder) powerState(ctx context.Context, of *machine, notAny ...region.PowerState) (compute.PowerState, error) {
	var state region.PowerState
	err := f.again(ctx, func() (bool, error) {
		server, err := f.server(ctx, of)
		if err != nil {
			return false, err
		}
		state = server.Status.PowerState
		return !slices.Contains(notAny, state), nil
	})
	return known(state), err
}

// again looks until done, or until reads show what is there. The look itself
// may take longer.
func (f *finder) again(ctx context.Context, look func() (done bool, err error)) error {
	var failure error
	err := wait.ExponentialBackoffWithContext(ctx, f.lag, func(context.Context) (done bool, err error) {
		done, failure = look()
		return done, failure
	})
	switch {
	case failure != nil:
		return failure
	case err != nil:
		return ctx.Err()
	default:
		return nil
	}
}

// known is a state as instances show it: one that is not known is not shown.
func known(state region.PowerState) compute.PowerState {
	if !state.Known() {
		return ""
	}
	return compute.PowerState(state)
}

// scopeOf is the owner of an instance: what is stored, not what its namespace
// says now.
func scopeOf(instance *compute.Instance) tenancy.Scope {
	return tenancy.Scope{Organization: instance.Spec.OrganizationID, Project: instance.Spec.ProjectID}
}
