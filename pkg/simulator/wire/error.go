// SPDX-License-Identifier: Apache-2.0

// Package wire is what the simulated services share on the wire: errors, who
// calls, bodies and the rules for ids. The facts are in docs/reference/wire.md.
package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"

	"k8s.io/klog/v2"

	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// StatusError is an answer that is not a success.
type StatusError struct {
	Status      int
	Code        unikorn.ErrorCode
	Description string
}

// Error makes StatusError an error.
func (e *StatusError) Error() string {
	return fmt.Sprintf("%d %s: %s", e.Status, e.Code, e.Description)
}

var codes = map[int]unikorn.ErrorCode{
	http.StatusBadRequest:            unikorn.InvalidRequest,
	http.StatusUnauthorized:          unikorn.AccessDenied,
	http.StatusForbidden:             unikorn.Forbidden,
	http.StatusNotFound:              unikorn.NotFound,
	http.StatusMethodNotAllowed:      unikorn.MethodNotAllowed,
	http.StatusConflict:              unikorn.Conflict,
	http.StatusRequestEntityTooLarge: unikorn.RequestEntityTooLarge,
	http.StatusUnsupportedMediaType:  unikorn.UnsupportedMediaType,
	http.StatusUnprocessableEntity:   unikorn.UnprocessableContent,
	http.StatusInternalServerError:   unikorn.ServerError,
}

// fixed descriptions never name an object.
var fixed = map[int]string{
	http.StatusNotFound:            "the requested resource does not exist",
	http.StatusMethodNotAllowed:    "the requested method is not allowed",
	http.StatusConflict:            "the request conflicts with the state of the resource",
	http.StatusInternalServerError: "the request could not be handled",
}

// Speaks tells whether the services have an error of their own for a status.
func Speaks(status int) bool {
	return codes[status] != ""
}

// Error returns the services' error for a status they speak. Some statuses
// have a fixed description, whatever the one given.
func Error(status int, format string, arguments ...any) *StatusError {
	description, isFixed := fixed[status]
	if !isFixed {
		description = fmt.Sprintf(format, arguments...)
	}
	return &StatusError{Status: status, Code: codes[status], Description: description}
}

// Denied is the refusal of an operation the caller's roles do not hold.
func Denied(kind string, operation unikorn.Operation) *StatusError {
	return Error(http.StatusForbidden, "operation is not allowed by rbac: %s %s", operation, kind)
}

// WriteError answers with an error. Any other error than a StatusError becomes
// a 500 without detail.
func WriteError(w http.ResponseWriter, r *http.Request, err error) {
	var status *StatusError
	if !errors.As(err, &status) {
		klog.ErrorS(err, "Request failed", "method", r.Method, "path", r.URL.Path)
		status = Error(http.StatusInternalServerError, "")
	}
	w.Header().Set("Cache-Control", "no-cache")
	if status.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(
			"Bearer error=%q,error_description=%q,resource_metadata=\"https://%s/.well-known/openid-protected-resource\"",
			status.Code, status.Description, r.Host))
	}
	WriteJSON(w, status.Status, unikorn.ErrorBody{
		Error: status.Code, Description: status.Description, TraceID: traceID(r),
	})
}

// WriteJSON answers with a body.
func WriteJSON(w http.ResponseWriter, status int, body any) {
	raw, err := json.Marshal(body)
	if err != nil {
		klog.ErrorS(err, "Body does not marshal")
		Drop()
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	Write(w, raw)
}

// Write sends bytes; when the peer is gone, so is the request.
func Write(w http.ResponseWriter, body []byte) {
	if _, err := w.Write(body); err != nil {
		Drop()
	}
}

// Drop ends the request without another byte, from the peer's view a dropped
// connection. It does not return.
func Drop() {
	panic(http.ErrAbortHandler)
}

var traceparent = regexp.MustCompile(`^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$`)

// traceID repeats the trace the caller said the request belongs to.
func traceID(r *http.Request) string {
	if match := traceparent.FindStringSubmatch(r.Header.Get("traceparent")); match != nil {
		return match[1]
	}
	return "00000000000000000000000000000000"
}
