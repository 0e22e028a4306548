// SPDX-License-Identifier: Apache-2.0

package unikorn

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Service names a service of the platform.
type Service string

// The services instances need.
const (
	RegionService   Service = "region"
	IdentityService Service = "identity"
)

// Kind says what a failed call means.
type Kind string

const (
	// Refused says that the service understood the call and refuses it because
	// of the object or the person it is for.
	Refused Kind = "Refused"
	// ServiceRefused says that the service refuses this service, whoever the
	// call is for.
	ServiceRefused Kind = "ServiceRefused"
	// Unavailable stands for no sensible answer. Down, overloaded, connection
	// dropped, an internal error of the service, or a body that is not what it
	// should be.
	Unavailable Kind = "Unavailable"
	// TimedOut stands for no answer in time.
	TimedOut Kind = "TimedOut"
)

// Error is a call that failed. The meaning of statuses and codes is in
// docs/reference/wire.md, "Errors".
type Error struct {
	Service Service
	// Operation is the operation's name in the service's description.
	Operation string
	Kind      Kind
	// StatusCode is the HTTP status, 0 when none arrived.
	StatusCode int
	// Code is the machine-readable kind of a well-formed error body, else empty.
	Code ErrorCode
	// Description is the prose of a well-formed error body. It may repeat what
	// was sent or name what belongs to others: neither log nor show it unless
	// the operation's own rules say what is in it.
	Description string
	// TraceID names the trace of the call in the service's own log.
	TraceID string
	// RetryAfter is how long the service asked to wait, 0 when it did not.
	RetryAfter time.Duration
	// Impersonated says that the call was made with the rights of a person.
	Impersonated bool

	// unknown: the service may or may not have done what was asked.
	unknown bool
	cause   error
}

var _ error = &Error{}

// Error names service, operation and outcome, and nothing that was sent.
func (e *Error) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s: ", e.Service, e.Operation)
	switch {
	case e.StatusCode != 0:
		fmt.Fprintf(&text, "status %d", e.StatusCode)
		if e.Code != "" {
			fmt.Fprintf(&text, " %s", e.Code)
		}
	case e.Kind == TimedOut:
		text.WriteString("no answer in time")
	default:
		text.WriteString("no answer")
	}
	if e.cause != nil {
		fmt.Fprintf(&text, ": %v", e.cause)
	}
	if e.TraceID != "" {
		fmt.Fprintf(&text, " (trace %s)", e.TraceID)
	}
	return text.String()
}

// Unwrap is the reason there was no answer or no use in it, if one is known.
func (e *Error) Unwrap() error {
	return e.cause
}

// OutcomeUnknown says whether err leaves open what a call did: it was sent, and
// no definite refusal came back. It is false for a call that was never sent.
func OutcomeUnknown(err error) bool {
	var failed *Error
	return errors.As(err, &failed) && failed.unknown
}

// IsNotFound says whether the service answered that the object does not exist.
// A 404 that is not the service's own, from something in between, is none.
func IsNotFound(err error) bool {
	return answered(err, http.StatusNotFound)
}

// IsForbidden says whether the service answered 403.
func IsForbidden(err error) bool {
	return answered(err, http.StatusForbidden)
}

// IsConflict says whether the service answered that a name is taken or a write
// is stale.
func IsConflict(err error) bool {
	return answered(err, http.StatusConflict)
}

// IsUnprocessable says whether the service answered that a rule of its own
// refuses the content of the call.
func IsUnprocessable(err error) bool {
	return answered(err, http.StatusUnprocessableEntity)
}

// IsBadRequest says whether the service answered 400. What that means depends
// on the operation; of power actions it means the wrong power state.
func IsBadRequest(err error) bool {
	return answered(err, http.StatusBadRequest)
}

// IsServerError says whether the service answered 500 in its own words. Identity
// does so for everything in a project that does not exist (any more).
func IsServerError(err error) bool {
	return answered(err, http.StatusInternalServerError)
}

// IsNotVisible says whether an object does not exist for the caller: it is
// missing, or a person may not read it. Which of the two must not be shown,
// because the difference tells that somebody else's object exists.
func IsNotVisible(err error) bool {
	var failed *Error
	if !errors.As(err, &failed) {
		return false
	}
	return IsNotFound(err) || (failed.Impersonated && IsForbidden(err))
}

// IsUnavailable says whether there was no sensible answer, in time or at all.
func IsUnavailable(err error) bool {
	var failed *Error
	return errors.As(err, &failed) && (failed.Kind == Unavailable || failed.Kind == TimedOut)
}

func answered(err error, status int) bool {
	var failed *Error
	return errors.As(err, &failed) && failed.StatusCode == status && failed.Code != ""
}
