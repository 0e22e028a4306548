// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/identity"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// verdict is what a pass came to.
type verdict struct {
	// reason of Available; empty leaves the condition as it is.
	reason  string
	message string
	// again is when to look again whatever happens; 0 is only when something
	// changes.
	again time.Duration
}

func (v verdict) status() metav1.ConditionStatus {
	if v.reason == v1alpha1.ReasonProvisioned {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}

// halt is an error that ends a pass with a verdict of its own and is no failure
// of the controller.
type halt struct {
	verdict
	// parks: nothing is tried again until the object changes.
	parks bool
}

func (h *halt) Error() string {
	return fmt.Sprintf("%s: %s", h.reason, h.message)
}

// park refuses until the object changes.
func park(reason, message string) error {
	return &halt{verdict: verdict{reason: reason, message: message}, parks: true}
}

// hold refuses for a while.
func hold(reason, message string) error {
	return &halt{verdict: verdict{reason: reason, message: message, again: refusalDelay}}
}

// stale ends a pass over an object that is not what the API server has.
func stale() error {
	return &halt{verdict: verdict{again: staleDelay}}
}

// troubled is the verdict on a call that failed and is tried again.
func troubled(err error) verdict {
	return verdict{reason: v1alpha1.ReasonDependencyNotReady, message: troubleMessage(err)}
}

// troubleMessage says which service is in the way, and nothing of what was sent
// or answered.
func troubleMessage(err error) string {
	var failed *unikorn.Error
	if !errors.As(err, &failed) {
		return "The controller could not finish its work; it tries again."
	}
	switch failed.Kind {
	case unikorn.TimedOut:
		return fmt.Sprintf("The %s service does not answer in time.", failed.Service)
	case unikorn.ServiceRefused, unikorn.Refused:
		return fmt.Sprintf("The %s service refuses the controller.", failed.Service)
	default:
		return fmt.Sprintf("The %s service is not available.", failed.Service)
	}
}

// quotaRefused turns a refusal of quota into a halt and leaves other errors.
func quotaRefused(err error) error {
	var exceeded *identity.QuotaExceededError
	if errors.As(err, &exceeded) {
		return hold(v1alpha1.ReasonQuotaExceeded, bounded(exceeded.Error()))
	}
	return err
}
