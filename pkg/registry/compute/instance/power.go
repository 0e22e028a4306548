// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/util/dryrun"
	"k8s.io/apiserver/pkg/warning"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/validation"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
)

var (
	_ rest.NamedCreater = &PowerREST{}
	_ rest.Getter       = &PowerREST{}
)

// powerSwitch switches machines. A refusal with 400 means the wrong state.
type powerSwitch interface {
	StartServer(ctx context.Context, credential principal.Credential, id ids.ServerID) error
	StopServer(ctx context.Context, credential principal.Credential, id ids.ServerID) error
	SoftRebootServer(ctx context.Context, credential principal.Credential, id ids.ServerID) error
	HardRebootServer(ctx context.Context, credential principal.Credential, id ids.ServerID) error
}

// Notes are left on what an instance is stored as, which has the given object
// name. They change nothing else.
type Notes interface {
	Annotate(ctx context.Context, namespace, name string, annotations map[string]string) error
}

// noteTimeout bounds how long an answer waits for the note of what was done.
const noteTimeout = 5 * time.Second

// PowerREST serves instances/power.
type PowerREST struct {
	requests *requests
	notes    Notes
	actions  map[compute.PowerAction]powerAction
}

// powerAction is what an action does: docs/reference/wire.md, "Power states".
type powerAction struct {
	do func(ctx context.Context, credential principal.Credential, id ids.ServerID) error
	// from is the state in which region does it.
	from region.PowerState
	// reached are the states in which nothing is left to do, because the machine
	// is, or by itself comes to be, as the action leaves it.
	reached []region.PowerState
	// next is the state region shows from then on. Where it is empty the state
	// does not change.
	next region.PowerState
	// final is the state the machine is to come to, empty likewise.
	final region.PowerState
}

func newPowerREST(requests *requests, machines powerSwitch, notes Notes) *PowerREST {
	return &PowerREST{requests: requests, notes: notes, actions: map[compute.PowerAction]powerAction{
		compute.PowerActionStart: {
			do:   machines.StartServer,
			from: region.PowerStopped,
			reached: []region.PowerState{
				region.PowerRunning, region.PowerPending, region.PowerQueued, region.PowerBuilding, region.PowerRebuilding,
			},
			next:  region.PowerPending,
			final: region.PowerRunning,
		},
		compute.PowerActionStop: {
			do:      machines.StopServer,
			from:    region.PowerRunning,
			reached: []region.PowerState{region.PowerStopped, region.PowerStopping},
			next:    region.PowerStopping,
			final:   region.PowerStopped,
		},
		compute.PowerActionReboot:     {do: rebooting(machines.SoftRebootServer), from: region.PowerRunning},
		compute.PowerActionHardReboot: {do: rebooting(machines.HardRebootServer), from: region.PowerRunning},
	}}
}

// rebooting keeps clients from rebooting a machine once more when the answer to
// the first time was lost.
func rebooting(reboot func(context.Context, principal.Credential, ids.ServerID) error) func(context.Context, principal.Credential, ids.ServerID) error {
	return func(ctx context.Context, credential principal.Credential, id ids.ServerID) error {
		return once(reboot(ctx, credential, id))
	}
}

// New implements rest.Storage.
func (*PowerREST) New() runtime.Object { return &compute.InstancePower{} }

// Destroy implements rest.Storage.
func (*PowerREST) Destroy() {}

// Get implements rest.Getter.
func (r *PowerREST) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	found, err := r.requests.toRead(ctx, name)
	if err != nil {
		return nil, err
	}
	return answerPower(found, compute.InstancePowerSpec{}, known(found.server.Status.PowerState)), nil
}

// Create implements rest.NamedCreater.
func (r *PowerREST) Create(ctx context.Context, name string, obj runtime.Object, admit rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	request := obj.(*compute.InstancePower)
	found, err := r.requests.begin(ctx, name, request, validation.ValidateAboutInstance(&request.ObjectMeta, name), admit)
	if err != nil {
		return nil, err
	}
	if request.Spec.Action != compute.PowerActionStop {
		if err := refuseDeleted(found.instance, string(request.Spec.Action)); err != nil {
			return nil, err
		}
	}
	if dryrun.IsDryRun(options.DryRun) {
		return answerPower(found, request.Spec, known(found.server.Status.PowerState)), nil
	}
	began := time.Now()
	state, err := r.act(ctx, found, request.Spec.Action)
	if err != nil {
		return nil, err
	}
	r.note(ctx, found.instance, request.Spec.Action, began)
	return answerPower(found, request.Spec, state), nil
}

// act returns the state of the machine after the action. The call is made
// whatever state was read, because a read may be behind; only where region
// refuses it the state is read again.
func (r *PowerREST) act(ctx context.Context, on *machine, name compute.PowerAction) (compute.PowerState, error) {
	action := r.actions[name]
	err := action.do(ctx, on.credential, on.server.ID())
	switch {
	case err == nil && action.next == "":
		return known(on.server.Status.PowerState), nil
	case err == nil:
		return known(action.next), nil
	case !impossible(err):
		return "", err
	}
	state, err := r.requests.powerState(ctx, on, action.from)
	if err != nil {
		return "", err
	}
	if !slices.Contains(action.reached, region.PowerState(state)) {
		return "", conflict(on.instance, string(name), state, action.from)
	}
	warning.AddWarning(ctx, "", fmt.Sprintf("%s changed nothing: the machine is %s", name, state))
	return state, nil
}

// note lets the controller look at the machine now, and readers of the instance
// know what it is to come to, before the client has its answer: who waits for
// Ready then must not be told of before. Also what changed nothing is noted,
// since the instance may not show it yet. A note that fails, or whose client has
// gone, fails no action that was done.
func (r *PowerREST) note(ctx context.Context, on *compute.Instance, name compute.PowerAction, began time.Time) {
	action := r.actions[name]
	if action.final == "" {
		return
	}
	request := v1alpha1.PowerRequest{State: string(action.final), Time: began}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTimeout)
	defer cancel()
	err := r.notes.Annotate(bounded, on.Namespace, string(on.Status.InstanceID), map[string]string{
		v1alpha1.AnnotationPowerRequested: request.String(),
	})
	if err != nil {
		warning.AddWarning(ctx, "", fmt.Sprintf(
			"%s is done, but the instance may not show it, nor be right about Ready, before the controller next looks at the machine: %v", name, err))
	}
}

// answerPower is the answer about the power of a machine. What is asked for
// without an action has none.
func answerPower(found *machine, spec compute.InstancePowerSpec, state compute.PowerState) *compute.InstancePower {
	return &compute.InstancePower{
		ObjectMeta: metadataOf(found.instance),
		Spec:       spec,
		Status:     compute.InstancePowerStatus{PowerState: state},
	}
}
