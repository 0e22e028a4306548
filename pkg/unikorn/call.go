// SPDX-License-Identifier: Apache-2.0

package unikorn

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"
)

// Endpoint is an operation of a service's description.
type Endpoint struct {
	// Name is its operationId.
	Name string
	// ByRule says of a 400, 409 or 422, or of a 403 to a call that is not
	// impersonated, that it is about the object the call is for. Without it such an answer
	// means that the platform refuses this service. nil says it of none.
	ByRule func(*Error) bool
}

// Send makes the request of a call, as the methods of generated clients do.
type Send func(ctx context.Context) (*http.Response, error)

// Completer is a body that can tell whether it has what makes it of use. Error
// bodies, empty objects and null decode into anything without complaint.
type Completer interface {
	Complete() bool
}

// Call makes a call and decodes its answer. The call gets the client's deadline
// on top of that of ctx. It fails with *Error when the call failed, and with
// the error of send when the request could not be made.
func Call[T any](ctx context.Context, c *Client, endpoint Endpoint, send Send) (*T, error) {
	answer := new(T)
	err := c.do(ctx, endpoint, send, func(body []byte) error {
		if bytes.Equal(body, []byte("null")) {
			return errIncomplete
		}
		if err := json.Unmarshal(body, answer); err != nil {
			return err
		}
		if complete, ok := any(answer).(Completer); ok && !complete.Complete() {
			return errIncomplete
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// List makes a call for a list. The JSON literal null is an empty list; no
// answer is never one.
func List[T any](ctx context.Context, c *Client, endpoint Endpoint, send Send) ([]T, error) {
	var items []T
	err := c.do(ctx, endpoint, send, func(body []byte) error {
		return json.Unmarshal(body, &items)
	})
	if err != nil {
		return nil, err
	}
	return items, nil
}

// Do makes a call whose answer has no body that matters.
func Do(ctx context.Context, c *Client, endpoint Endpoint, send Send) error {
	return c.do(ctx, endpoint, send, func([]byte) error { return nil })
}

var errIncomplete = errors.New("the answer lacks what it should have")

func (c *Client) do(ctx context.Context, endpoint Endpoint, send Send, decode func([]byte) error) error {
	started := time.Now()
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	sent := &atomic.Bool{}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { sent.Store(true) },
	})

	response, err := send(ctx)
	if err != nil {
		return c.noAnswer(endpoint, err, sent.Load(), started)
	}
	defer response.Body.Close()
	body, err := readBody(response)
	if err != nil {
		return c.broken(endpoint, response, err, started)
	}
	if response.StatusCode/100 != 2 {
		return c.refusal(endpoint, response, body, started)
	}
	if err := decode(body); err != nil {
		return c.broken(endpoint, response, fmt.Errorf("not the expected JSON: %w", scrubbed(err)), started)
	}
	observe(c.service, endpoint.Name, strconv.Itoa(response.StatusCode), started)
	c.advisor.worked(endpoint.Name)
	return nil
}

// noAnswer is the error of a request that got no answer. Errors that are not
// the HTTP client's come from making the request and are passed on.
func (c *Client) noAnswer(endpoint Endpoint, err error, sent bool, started time.Time) error {
	var failed *url.Error
	if !errors.As(err, &failed) {
		return err
	}
	result := &Error{Service: c.service, Operation: endpoint.Name, Kind: Unavailable, unknown: sent, cause: plainCause(failed.Err)}
	status := "unreachable"
	switch {
	case errors.Is(err, context.Canceled):
		status = "canceled"
	case failed.Timeout():
		result.Kind, status = TimedOut, "timeout"
	case refusedHandshake(err):
		result.Kind, result.unknown = ServiceRefused, false
		c.advisor.refused(result)
	case untrusted(err):
		c.advisor.untrusted(result)
	case sent:
		status = "dropped"
	}
	observe(c.service, endpoint.Name, status, started)
	return result
}

// broken is the error of an answer that began and is of no use.
func (c *Client) broken(endpoint Endpoint, response *http.Response, cause error, started time.Time) error {
	result := c.failure(endpoint, response)
	result.cause = cause
	status := "garbled"
	if isTimeout(cause) {
		result.Kind, status = TimedOut, "timeout"
	}
	observe(c.service, endpoint.Name, status, started)
	return result
}

// refusal is the error of an answer that is not a success.
func (c *Client) refusal(endpoint Endpoint, response *http.Response, body []byte, started time.Time) error {
	observe(c.service, endpoint.Name, strconv.Itoa(response.StatusCode), started)
	result := c.failure(endpoint, response)
	if said, ok := parseErrorBody(body); ok {
		result.Code, result.Description, result.TraceID = said.Error, said.Description, said.TraceID
	}
	result.Kind = kind(endpoint, result)
	result.unknown = !definite(result)
	switch result.Kind {
	case ServiceRefused:
		c.advisor.refused(result)
	case Refused:
		c.advisor.worked(endpoint.Name)
	case Unavailable, TimedOut:
	}
	return result
}

func (c *Client) failure(endpoint Endpoint, response *http.Response) *Error {
	return &Error{
		Service:      c.service,
		Operation:    endpoint.Name,
		Kind:         Unavailable,
		StatusCode:   response.StatusCode,
		RetryAfter:   parseRetryAfter(response),
		Impersonated: response.Request.Header.Get(impersonateHeader) == impersonateValue,
		unknown:      true,
	}
}

// readBody reads an answer to its end, so that its connection can be used again.
func readBody(response *http.Response) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxBody {
		return nil, fmt.Errorf("more than %d bytes", maxBody)
	}
	return bytes.TrimSpace(body), nil
}
