// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/storage"
)

const crName = "0c9e2a9e-crname"

func storedResource() schema.GroupResource {
	return records.WithResource(records.Resource).GroupResource()
}

func TestHostErrorsAreRewritten(t *testing.T) {
	n := newNaming(widgets, records)
	kind := records.WithKind(records.Kind).GroupKind()
	tooLarge := storage.NewTooLargeResourceVersionError(10, 5, 1)
	continued := apierrors.NewResourceExpired("too old")
	continued.ErrStatus.Continue = "token"
	for name, test := range map[string]struct {
		err    error
		is     func(error) bool
		wanted []string
	}{
		"not found": {apierrors.NewNotFound(storedResource(), crName), apierrors.IsNotFound, []string{`widgets.example.com "w1" not found`}},
		"conflict":  {apierrors.NewConflict(storedResource(), crName, errors.New("changed")), apierrors.IsConflict, []string{`widgets.example.com "w1"`}},
		"invalid":   {apierrors.NewInvalid(kind, crName, field.ErrorList{field.Invalid(field.NewPath("spec", "size"), -1, "no WidgetRecord is so small")}), apierrors.IsInvalid, []string{`Widget.example.com "w1" is invalid`, "spec.size", "no Widget is"}},
		"denied":    {apierrors.NewForbidden(storedResource(), crName, errors.New("ValidatingAdmissionPolicy 'p' denied request: no")), apierrors.IsForbidden, []string{`widgets.example.com "w1" is forbidden`, "denied request: no"}},
		"too many":  {apierrors.NewTooManyRequests("slow down", 3), apierrors.IsTooManyRequests, []string{"slow down"}},
		"version":   {tooLarge, storage.IsTooLargeResourceVersion, []string{"Too large"}},
		"expired": {continued, func(err error) bool {
			return apierrors.IsResourceExpired(err) && err.(apierrors.APIStatus).Status().Continue == "token"
		}, nil},
		"no namespace": {apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "alpha"), apierrors.IsNotFound, []string{`namespaces "alpha" not found`}},
		"500":          {apierrors.NewInternalError(errors.New("etcdserver: request timed out")), apierrors.IsInternalError, []string{"etcdserver"}},
		"wrapped":      {fmt.Errorf("while writing: %w", apierrors.NewNotFound(storedResource(), crName)), apierrors.IsNotFound, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := n.hostError(test.err, crName, "w1")
			if !test.is(got) {
				t.Errorf("reason lost: %#v", got)
			}
			status := got.(apierrors.APIStatus).Status()
			text := fmt.Sprintf("%s %+v", status.Message, status.Details)
			for _, secret := range []string{"widgetrecord", "WidgetRecord", "v1alpha1", crName} {
				if strings.Contains(text, secret) {
					t.Errorf("shows %q: %s", secret, text)
				}
			}
			for _, wanted := range test.wanted {
				if !strings.Contains(status.Message, wanted) {
					t.Errorf("%q is not in %q", wanted, status.Message)
				}
			}
		})
	}
}

func TestRewritingLeavesTheOriginal(t *testing.T) {
	n := newNaming(widgets, records)
	original := apierrors.NewInvalid(records.WithKind(records.Kind).GroupKind(), crName,
		field.ErrorList{field.Required(field.NewPath("spec"), "in a WidgetRecord")})
	before := original.ErrStatus.DeepCopy()
	_ = n.hostError(original, crName, "w1")
	if original.ErrStatus.Details.Causes[0] != before.Details.Causes[0] || original.ErrStatus.Details.Name != crName {
		t.Errorf("changed: %+v", original.ErrStatus)
	}
}

func TestFaultsOfOurOwnAreNotTheClients(t *testing.T) {
	n := newNaming(widgets, records)
	refused := apierrors.NewForbidden(storedResource(), crName,
		errors.New(`User "system:serviceaccount:a:b" cannot patch resource "widgetrecords" in API group "example.com" in the namespace "alpha"`))
	missing := apierrors.NewGenericServerResponse(http.StatusNotFound, "GET", storedResource(), crName, "404 page not found", 0, true)
	for name, test := range map[string]struct {
		err error
		is  func(error) bool
	}{
		"RBAC":          {refused, apierrors.IsInternalError},
		"credentials":   {apierrors.NewUnauthorized("who are you"), apierrors.IsInternalError},
		"no definition": {missing, apierrors.IsServiceUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			got := n.hostError(test.err, crName, "w1")
			if !test.is(got) {
				t.Errorf("got %#v", got)
			}
			if strings.Contains(got.Error(), "serviceaccount") || strings.Contains(got.Error(), "widgetrecords") {
				t.Errorf("shows too much: %v", got)
			}
		})
	}
}

type timeout struct{ error }

func (timeout) Timeout() bool   { return true }
func (timeout) Temporary() bool { return true }

func TestAHostThatDoesNotAnswer(t *testing.T) {
	n := newNaming(widgets, records)
	refused := &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 6443}, Err: syscall.ECONNREFUSED}
	for name, test := range map[string]struct {
		err  error
		code int32
	}{
		"refused":     {refused, http.StatusServiceUnavailable},
		"cut off":     {fmt.Errorf("read: %w", syscall.ECONNRESET), http.StatusServiceUnavailable},
		"timed out":   {timeout{errors.New("i/o timeout")}, http.StatusGatewayTimeout},
		"out of time": {fmt.Errorf("get: %w", context.DeadlineExceeded), http.StatusGatewayTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := n.hostError(test.err, "", "w1").(apierrors.APIStatus)
			if !ok || got.Status().Code != test.code {
				t.Fatalf("got %#v", got)
			}
			if seconds := got.Status().Details.RetryAfterSeconds; seconds != retryAfterSeconds {
				t.Errorf("retry after %d", seconds)
			}
			if strings.Contains(got.Status().Message, "10.1.2.3") {
				t.Errorf("shows an address: %s", got.Status().Message)
			}
		})
	}
	if got := n.hostError(context.Canceled, "", ""); !errors.Is(got, context.Canceled) {
		t.Errorf("a caller who left: got %v", got)
	}
}

func TestIsMissing(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"the object":     {apierrors.NewNotFound(storedResource(), crName), true},
		"its namespace":  {apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "alpha"), false},
		"its definition": {apierrors.NewGenericServerResponse(http.StatusNotFound, "GET", storedResource(), crName, "404 page not found", 0, true), false},
		"something else": {apierrors.NewConflict(storedResource(), crName, errors.New("x")), false},
		"nothing":        {nil, false},
	} {
		if got := isMissing(test.err); got != test.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestConflictsOfOthersAreNotOurs(t *testing.T) {
	n := newNaming(widgets, records)
	byKind := &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonConflict, Code: http.StatusConflict,
		Details: &metav1.StatusDetails{Group: records.Group, Kind: records.Kind}}}
	if !n.isConflict(apierrors.NewConflict(storedResource(), crName, errors.New("x"))) || !n.isConflict(byKind) {
		t.Error("a conflict at the host is not recognised")
	}
	other := schema.GroupResource{Group: "identity", Resource: "allocations"}
	if n.isConflict(apierrors.NewConflict(other, "a", errors.New("x"))) || n.isTaken(apierrors.NewAlreadyExists(other, "a")) {
		t.Error("somebody else's conflict passes for ours")
	}
}
