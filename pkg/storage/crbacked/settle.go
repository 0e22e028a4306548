// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

var _ Writer[Object] = &settlingWriter[Object]{}

// settlingWriter is the host client as a Writer whose creates have a definite
// outcome whenever that can be had.
type settlingWriter[C Object] struct {
	host    *hostClient[C]
	ours    func(sent, found C) bool
	timeout time.Duration
}

func (w *settlingWriter[C]) Update(ctx context.Context, stored *Stored[C], desired C) (*Stored[C], error) {
	return w.host.update(ctx, stored, desired)
}

// Create implements Writer. A create whose answer got lost is repeated, also
// after the caller has gone, since whoever paid for it must know what became
// of it: either a repetition is taken, or it meets the first one's object.
func (w *settlingWriter[C]) Create(ctx context.Context, cr C) (*Stored[C], error) {
	created, err := w.host.create(ctx, cr)
	if err == nil || !unknownOutcome(err) {
		return created, err
	}
	if w.ours == nil {
		return nil, &outcomeUnknownError{cause: err}
	}

	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.timeout)
	defer cancel()
	for backoff := outageBackoff(); unknownOutcome(err); {
		if !sleep(ctx, backoff.Step()) {
			return nil, &outcomeUnknownError{cause: err}
		}
		created, err = w.repeat(ctx, cr)
	}
	return created, err
}

// repeat creates cr once more, and looks what is there if that fails: refused
// now is not refused before, since the host checks requests before it looks
// for what they name.
func (w *settlingWriter[C]) repeat(ctx context.Context, cr C) (*Stored[C], error) {
	created, err := w.host.create(ctx, cr)
	if err == nil {
		return created, nil
	}
	found, lookup := w.host.get(ctx, cr.GetNamespace(), cr.GetName(), "")
	switch {
	case lookup == nil && w.ours(cr, found.Object):
		return found, nil
	case lookup == nil, isMissing(lookup):
		return nil, err
	default:
		return nil, &outcomeUnknownError{cause: err}
	}
}

// outageBackoff is the pace of what has to wait for the host to come back.
func outageBackoff() wait.Backoff {
	return wait.Backoff{Duration: 50 * time.Millisecond, Factor: 2, Jitter: 0.2, Steps: 1 << 16, Cap: 5 * time.Second}
}

// persistently repeats do until it succeeds, is refused, or ctx ends.
func persistently(ctx context.Context, do func() error) error {
	for backoff := outageBackoff(); ; {
		err := do()
		if err == nil || isRefusal(err) || !sleep(ctx, backoff.Step()) {
			return err
		}
	}
}

// isRefusal tells that the host has answered, and will not answer otherwise.
func isRefusal(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && !unknownOutcome(err) && !apierrors.IsTooManyRequests(err)
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// OutcomeUnknown tells whether the write which err comes from may have been
// done, or may yet be.
func OutcomeUnknown(err error) bool {
	var unknown *outcomeUnknownError
	return errors.As(err, &unknown)
}

// outcomeUnknownError is an API status itself, because the registry and the
// handlers look no deeper than the outermost error.
type outcomeUnknownError struct{ cause error }

var _ apierrors.APIStatus = &outcomeUnknownError{}

func (e *outcomeUnknownError) Error() string         { return "outcome unknown: " + e.cause.Error() }
func (e *outcomeUnknownError) Unwrap() error         { return e.cause }
func (e *outcomeUnknownError) Status() metav1.Status { return unavailable(e.cause).ErrStatus }

// unknownOutcome tells whether a write that answered err may have been done.
// Whatever the host answers below 500 it says before it writes.
func unknownOutcome(err error) bool {
	if err == nil || OutcomeUnknown(err) {
		return err != nil
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		code := status.Status().Code
		return !isTooLarge(status.Status()) && (code >= http.StatusInternalServerError || code == http.StatusRequestTimeout)
	}
	return !isRefusedConnection(err)
}

// isTooLarge tells the refusal of an object that is too large for the host's
// storage, which the host passes on as an error of its own.
func isTooLarge(status metav1.Status) bool {
	return status.Code == http.StatusInternalServerError && strings.Contains(status.Message, "etcdserver: request is too large")
}

// isRefusedConnection tells errors of connecting, before anything was sent.
func isRefusedConnection(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}
