// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// impossible says whether region refuses a call because of the state that the
// machine is in, which may be that it is not there yet.
func impossible(err error) bool {
	return unikorn.IsBadRequest(err) || unikorn.IsNotFound(err)
}

// refusal is the answer to a request that region refused because of the state
// of the machine: 409 with that state. Other errors of region pass through. The
// state is read after the refusal; notAny are states that it cannot be.
func (f *finder) refusal(ctx context.Context, of *machine, doing string, err error, notAny ...region.PowerState) error {
	if !impossible(err) {
		return err
	}
	state, err := f.powerState(ctx, of, notAny...)
	if err != nil {
		return err
	}
	return conflict(of.instance, doing, state, notAny...)
}

// conflict says that the machine is in no state for what is to be done. In the
// states of from it would be possible: region refused for another reason, which
// passes.
func conflict(instance *compute.Instance, doing string, state compute.PowerState, from ...region.PowerState) error {
	reason := fmt.Errorf("%s is not possible while the machine is %s", doing, state)
	switch {
	case state == "":
		reason = fmt.Errorf("%s is not possible: the machine is in no known power state yet", doing)
	case slices.Contains(from, region.PowerState(state)):
		reason = fmt.Errorf("%s is not possible yet, although the machine is %s: try again in a moment", doing, state)
	}
	answer := apierrors.NewConflict(compute.Resource("instances"), instance.Name, reason)
	answer.ErrStatus.Details.Causes = []metav1.StatusCause{{
		Type:    v1beta1.CausePowerState,
		Message: string(state),
		Field:   "status.powerState",
	}}
	return answer
}

// refuseDeleted refuses what makes no sense on a machine that is about to go,
// which region would do all the same. It can still be looked at and stopped.
func refuseDeleted(instance *compute.Instance, doing string) error {
	if instance.DeletionTimestamp.IsZero() {
		return nil
	}
	return apierrors.NewConflict(compute.Resource("instances"), instance.Name,
		fmt.Errorf("%s is not possible: the instance is being deleted", doing))
}

// inconsistent says that there is not exactly one server behind the instance.
func inconsistent(instance *compute.Instance, count int) error {
	message := fmt.Sprintf("%d servers belong to the instance, want exactly 1", count)
	answer := apierrors.NewInternalError(fmt.Errorf("instance %q: %s%s", instance.Name, message, excuse(instance, count)))
	answer.ErrStatus.Details = &metav1.StatusDetails{
		Group:  compute.GroupName,
		Kind:   "instances",
		Name:   instance.Name,
		Causes: []metav1.StatusCause{{Type: v1beta1.CauseConsistencyError, Message: message}},
	}
	return answer
}

// excuse says why there may be no server. The condition Healthy is about one that
// there was when the controller last looked.
func excuse(instance *compute.Instance, count int) string {
	switch {
	case count > 0:
		return ""
	case !instance.DeletionTimestamp.IsZero():
		return "; the instance is being deleted"
	case meta.FindStatusCondition(instance.Status.Conditions, v1alpha1.ConditionHealthy) == nil:
		return "; the machine may not have been made yet"
	default:
		return ""
	}
}

// notOffered says why an instance has no such subresource.
func notOffered(subresource string, instance *compute.Instance, reason string) error {
	answer := apierrors.NewNotFound(compute.Resource("instances/"+subresource), instance.Name)
	answer.ErrStatus.Message += ": " + reason
	return answer
}

// once takes the invitation to try again out of the answer to a call that must
// not be made twice and may have been made: clients follow it by themselves.
func once(err error) error {
	var failed *unikorn.Error
	if !unikorn.OutcomeUnknown(err) || !errors.As(err, &failed) {
		return err
	}
	answer := failed.Status()
	answer.Message += "; whether it was done is not known"
	if answer.Details != nil {
		answer.Details.RetryAfterSeconds = 0
	}
	return &apierrors.StatusError{ErrStatus: answer}
}
