// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestUnknownOutcome(t *testing.T) {
	dial := &url.Error{Op: "Post", URL: "https://host", Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"success":       {nil, false},
		"exists":        {apierrors.NewAlreadyExists(storedResource(), "a"), false},
		"refused":       {apierrors.NewForbidden(storedResource(), "a", errors.New("no")), false},
		"too many":      {apierrors.NewTooManyRequests("slow down", 1), false},
		"too large":     {apierrors.NewInternalError(errors.New("etcdserver: request is too large")), false},
		"500":           {apierrors.NewInternalError(errors.New("etcdserver: request timed out")), true},
		"503":           {apierrors.NewServiceUnavailable("shutting down"), true},
		"504":           {apierrors.NewTimeoutError("late", 1), true},
		"not connected": {dial, false},
		"cut off":       {io.ErrUnexpectedEOF, true},
		"reset":         {&net.OpError{Op: "read", Err: syscall.ECONNRESET}, true},
		"out of time":   {context.DeadlineExceeded, true},
		"caller left":   {context.Canceled, true},
		"known unknown": {&outcomeUnknownError{cause: dial}, true},
	} {
		if got := unknownOutcome(test.err); got != test.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// A repetition that cannot connect says nothing about the first attempt.
func TestARefusedRepetitionSettlesNothing(t *testing.T) {
	attempts := 0
	s := newWidgetStore(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		attempts++
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"InternalError","code":500,"message":"etcdserver: request timed out"}`)
	}))
	writer := &settlingWriter[*widgetRecord]{host: s.host, ours: s.config.Ours, timeout: 1}
	_, err := writer.Create(t.Context(), &widgetRecord{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}})
	if !OutcomeUnknown(err) || attempts != 1 {
		t.Errorf("after %d attempts: got %v", attempts, err)
	}
	if status, ok := s.naming.hostError(err, "a", "w").(apierrors.APIStatus); !ok || status.Status().Code != http.StatusInternalServerError {
		t.Errorf("status: got %v", status)
	}

	gone := &settlingWriter[*widgetRecord]{host: storeAt(t, "http://127.0.0.1:1").host, ours: s.config.Ours}
	if _, err := gone.repeat(t.Context(), &widgetRecord{}); !OutcomeUnknown(err) {
		t.Errorf("got %v", err)
	}
}
