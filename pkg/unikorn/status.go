// SPDX-License-Identifier: Apache-2.0

package unikorn

import (
	"fmt"
	"math"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// retryAfter is what clients are told to wait when the service did not say.
const retryAfter = time.Second

var _ apierrors.APIStatus = &Error{}

// Status is what a Kubernetes client is told when a handler passes the error
// on: 503 or 504 when the service is in no state to answer, 500 when the
// platform refuses this service, else the reason of the service's own status.
// It contains neither the service's prose nor the name of the operation, which
// mean nothing to the client.
func (e *Error) Status() metav1.Status {
	switch e.Kind {
	case Unavailable:
		return e.unavailable()
	case TimedOut:
		message := fmt.Sprintf("the %s service did not answer in time%s", e.Service, e.trace())
		return apierrors.NewTimeoutError(message, 0).Status()
	case ServiceRefused:
		return apierrors.NewInternalError(fmt.Errorf(
			"the %s service refuses calls of this service; its operator finds the reason in its log%s",
			e.Service, e.trace())).Status()
	case Refused:
		return e.refused()
	}
	return apierrors.NewInternalError(e).Status()
}

func (e *Error) unavailable() metav1.Status {
	message := fmt.Sprintf("the %s service is unavailable, try again later%s", e.Service, e.trace())
	status := apierrors.NewServiceUnavailable(message).Status()
	wait := e.RetryAfter
	if wait <= 0 {
		wait = retryAfter
	}
	seconds := min(math.Ceil(wait.Seconds()), math.MaxInt32)
	status.Details = &metav1.StatusDetails{RetryAfterSeconds: int32(seconds)}
	return status
}

func (e *Error) refused() metav1.Status {
	return metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    int32(e.StatusCode), //nolint:gosec // it has three digits
		Reason:  reasons[e.StatusCode],
		Message: fmt.Sprintf("the %s service refuses what was asked: %s%s", e.Service, e.Code, e.trace()),
	}
}

var reasons = map[int]metav1.StatusReason{
	http.StatusBadRequest:          metav1.StatusReasonBadRequest,
	http.StatusForbidden:           metav1.StatusReasonForbidden,
	http.StatusNotFound:            metav1.StatusReasonNotFound,
	http.StatusConflict:            metav1.StatusReasonConflict,
	http.StatusUnprocessableEntity: metav1.StatusReasonInvalid,
}

func (e *Error) trace() string {
	if e.TraceID == "" {
		return ""
	}
	return fmt.Sprintf(" (trace %s)", e.TraceID)
}
