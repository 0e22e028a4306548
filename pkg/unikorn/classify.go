// SPDX-License-Identifier: Apache-2.0

package unikorn

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// kind decides what an answer that is not a success means. A 4xx without the
// services' error body is not theirs but comes from something in between.
func kind(endpoint Endpoint, failed *Error) Kind {
	switch {
	case failed.StatusCode == http.StatusGatewayTimeout:
		return TimedOut
	case failed.Code == "", failed.StatusCode/100 != 4, failed.StatusCode == http.StatusTooManyRequests:
		return Unavailable
	}
	switch failed.StatusCode {
	case http.StatusNotFound:
		return Refused
	case http.StatusForbidden:
		if failed.Impersonated || byRule(endpoint, failed) {
			return Refused
		}
	case http.StatusBadRequest, http.StatusConflict, http.StatusUnprocessableEntity:
		if byRule(endpoint, failed) {
			return Refused
		}
	}
	return ServiceRefused
}

func byRule(endpoint Endpoint, failed *Error) bool {
	return endpoint.ByRule != nil && endpoint.ByRule(failed)
}

// definite says whether an answer leaves no doubt that nothing was done: a 4xx
// in the service's own words, or too many requests, which nothing reaches.
func definite(failed *Error) bool {
	if failed.StatusCode == http.StatusTooManyRequests {
		return true
	}
	return failed.StatusCode/100 == 4 && failed.Code != ""
}

func parseErrorBody(body []byte) (ErrorBody, bool) {
	var said ErrorBody
	if err := json.Unmarshal(body, &said); err != nil {
		return ErrorBody{}, false
	}
	if !plainWord(string(said.Error)) {
		return ErrorBody{}, false
	}
	if strings.Trim(said.TraceID, "0") == "" || !plainWord(said.TraceID) {
		said.TraceID = ""
	}
	return said, true
}

// plainWord says whether text is safe to repeat in messages and logs.
func plainWord(text string) bool {
	if text == "" || len(text) > 64 {
		return false
	}
	for _, r := range text {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_' {
			return false
		}
	}
	return true
}

// parseRetryAfter reads the form in seconds. The one with a date is not used
// between services and depends on clocks.
func parseRetryAfter(response *http.Response) time.Duration {
	seconds, err := strconv.ParseUint(response.Header.Get("Retry-After"), 10, 16)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// opRemoteAlert is the operation of an error that is an alert of the peer.
const opRemoteAlert = "remote error"

// refusals are the alerts (RFC 8446, 6.2) by which a peer says that it does not
// accept a handshake. Others can end a connection at any time, also after a
// request was seen to.
var refusals = []tls.AlertError{
	40,  // handshake_failure
	42,  // bad_certificate
	43,  // unsupported_certificate
	44,  // certificate_revoked
	45,  // certificate_expired
	46,  // certificate_unknown
	48,  // unknown_ca
	49,  // access_denied
	51,  // decrypt_error: a signature of the handshake
	70,  // protocol_version
	71,  // insufficient_security
	116, // certificate_required
}

// refusedHandshake says whether the peer ended the TLS handshake with an alert,
// which it does when it does not accept our certificate. With TLS 1.3 that
// arrives after the request was written, and before the peer looked at it.
func refusedHandshake(err error) bool {
	var remote *net.OpError
	if !errors.As(err, &remote) || remote.Op != opRemoteAlert {
		return false
	}
	// The error of a connection has a type of its own, with the same words.
	return slices.ContainsFunc(refusals, func(alert tls.AlertError) bool {
		return alert.Error() == remote.Err.Error()
	})
}

// untrusted says whether we do not accept the peer's certificate.
func untrusted(err error) bool {
	var refused *tls.CertificateVerificationError
	return errors.As(err, &refused)
}

func isTimeout(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		return true
	}
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}

// scrubbed keeps the place of a decoding error and drops the bytes it quotes,
// which may be a secret.
func scrubbed(err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return errors.New("malformed at byte " + strconv.FormatInt(syntax.Offset, 10))
	}
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		return errors.New("wrong type at " + mismatch.Field)
	}
	if errors.Is(err, errIncomplete) {
		return err
	}
	return errors.New("malformed value")
}
