// SPDX-License-Identifier: Apache-2.0

package unikorn_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn/unikorntest"
)

const prose = "prose that names another tenant"

// thing stands for what services answer with.
type thing struct {
	Name string `json:"name"`
}

func (t *thing) Complete() bool { return t.Name != "" }

// newClient is a client of server with the given deadline for calls.
func newClient(t *testing.T, pki *unikorntest.PKI, server *httptest.Server, timeout time.Duration) *unikorn.Client {
	t.Helper()
	client, err := unikorn.NewClient(unikorn.RegionService, unikorn.Config{Host: server.URL, TLS: pki.Files(t), Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// send makes a request with a body, as a generated client does.
func send(client *unikorn.Client, method string, edits ...func(*http.Request)) unikorn.Send {
	return func(ctx context.Context) (*http.Response, error) {
		req, err := http.NewRequestWithContext(ctx, method, client.Host()+"/things", strings.NewReader(`{"secret":"hunter2"}`))
		if err != nil {
			return nil, err
		}
		for _, edit := range edits {
			edit(req)
		}
		return client.Do(req)
	}
}

func impersonated(req *http.Request) { req.Header.Set("X-Impersonate", "true") }

func refusal(status int, code string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":%q,"error_description":%q,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}`, code, prose)
	}
}

func plain(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

// hijacked writes text to the connection and closes it.
func hijacked(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		connection, buffer, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = buffer.WriteString(text)
		_ = buffer.Flush()
		_ = connection.Close()
	}
}

type failure struct {
	kind    unikorn.Kind
	unknown bool
	code    int32
	reason  metav1.StatusReason
}

var (
	unavailable    = failure{unikorn.Unavailable, true, 503, metav1.StatusReasonServiceUnavailable}
	timedOut       = failure{unikorn.TimedOut, true, 504, metav1.StatusReasonTimeout}
	serviceRefused = failure{unikorn.ServiceRefused, false, 500, metav1.StatusReasonInternalError}
)

func TestFailures(t *testing.T) {
	tests := map[string]struct {
		handler http.HandlerFunc
		edits   []func(*http.Request)
		byRule  func(*unikorn.Error) bool
		want    failure
	}{
		"bad request":            {handler: refusal(400, "invalid_request"), want: serviceRefused},
		"bad request by rule":    {handler: refusal(400, "invalid_request"), byRule: status(400), want: failure{unikorn.Refused, false, 400, metav1.StatusReasonBadRequest}},
		"other rule":             {handler: refusal(400, "invalid_request"), byRule: status(403), want: serviceRefused},
		"unauthorized":           {handler: refusal(401, "access_denied"), want: serviceRefused},
		"forbidden":              {handler: refusal(403, "forbidden"), want: serviceRefused},
		"person forbidden":       {handler: refusal(403, "forbidden"), edits: []func(*http.Request){impersonated}, want: failure{unikorn.Refused, false, 403, metav1.StatusReasonForbidden}},
		"not found":              {handler: refusal(404, "not_found"), want: failure{unikorn.Refused, false, 404, metav1.StatusReasonNotFound}},
		"method not allowed":     {handler: refusal(405, "method_not_allowed"), want: serviceRefused},
		"conflict":               {handler: refusal(409, "conflict"), want: serviceRefused},
		"conflict by rule":       {handler: refusal(409, "conflict"), byRule: status(409), want: failure{unikorn.Refused, false, 409, metav1.StatusReasonConflict}},
		"unprocessable":          {handler: refusal(422, "unprocessable_content"), want: serviceRefused},
		"unprocessable by rule":  {handler: refusal(422, "unprocessable_content"), byRule: status(422), want: failure{unikorn.Refused, false, 422, metav1.StatusReasonInvalid}},
		"too many":               {handler: plain(429, "slow down"), want: failure{unikorn.Unavailable, false, 503, metav1.StatusReasonServiceUnavailable}},
		"server error":           {handler: refusal(500, "server_error"), want: unavailable},
		"bad gateway":            {handler: plain(502, "<html>"), want: unavailable},
		"service unavailable":    {handler: plain(503, "<html>"), want: unavailable},
		"gateway timeout":        {handler: plain(504, "<html>"), want: timedOut},
		"404 of an ingress":      {handler: plain(404, "<html>default backend"), want: unavailable},
		"403 of an ingress":      {handler: plain(403, `{"message":"no"}`), want: unavailable},
		"redirect":               {handler: plain(307, "", "Location", "/elsewhere"), want: unavailable},
		"success, not JSON":      {handler: plain(200, "<html>"), want: unavailable},
		"success, empty":         {handler: plain(200, ""), want: unavailable},
		"success, null":          {handler: plain(200, "null"), want: unavailable},
		"success, incomplete":    {handler: plain(200, "{}"), want: unavailable},
		"success, wrong type":    {handler: plain(200, `{"name":{}}`), want: unavailable},
		"success, truncated":     {handler: hijacked("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"name\""), want: unavailable},
		"refusal, truncated":     {handler: hijacked("HTTP/1.1 404 Not Found\r\nContent-Length: 100\r\n\r\n{\"err"), want: unavailable},
		"redirect to a secret":   {handler: plain(307, "", "Location", "https://hunter2%zz"), want: unavailable},
		"secret for a status":    {handler: hijacked("{\"privateKey\":\"hunter2\"}\r\n\r\n"), want: unavailable},
		"secret for a header":    {handler: hijacked("HTTP/1.1 200 OK\r\n{\"privateKey\":\"hunter2\"}\r\n\r\n"), want: unavailable},
		"secret for a length":    {handler: hijacked("HTTP/1.1 200 OK\r\nContent-Length: hunter2\r\n\r\n{}"), want: unavailable},
		"secret for an encoding": {handler: hijacked("HTTP/1.1 200 OK\r\nTransfer-Encoding: hunter2\r\n\r\n{}"), want: unavailable},
		"secret for a trailer": {handler: hijacked("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: A\r\n\r\n" +
			"2\r\n{}\r\n0\r\nA b: hunter2\r\n{\"privateKey\":\"hunter2\"}\r\n\r\n"), want: unavailable},
		"dropped":               {handler: hijacked(""), want: unavailable},
		"dropped in the header": {handler: hijacked("HTTP/1.1 20"), want: unavailable},
	}
	pki := unikorntest.NewPKI(t, "unikorn-compute")
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			client := newClient(t, pki, pki.Start(t, test.handler), 0)
			endpoint := unikorn.Endpoint{Name: "MakeThing", ByRule: test.byRule}
			got, err := unikorn.Call[thing](t.Context(), client, endpoint, send(client, http.MethodPost, test.edits...))
			if got != nil {
				t.Errorf("got an answer: %v", got)
			}
			check(t, err, test.want)
		})
	}
}

func status(code int) func(*unikorn.Error) bool {
	return func(refusal *unikorn.Error) bool { return refusal.StatusCode == code }
}

func check(t *testing.T, err error, want failure) {
	t.Helper()
	var failed *unikorn.Error
	if !errors.As(err, &failed) {
		t.Fatalf("got %T %v", err, err)
	}
	if failed.Kind != want.kind || unikorn.OutcomeUnknown(err) != want.unknown {
		t.Errorf("got %s, outcome unknown %t: %v", failed.Kind, unikorn.OutcomeUnknown(err), err)
	}
	var shown apierrors.APIStatus
	if !errors.As(fmt.Errorf("wrapped: %w", err), &shown) {
		t.Fatalf("%v is no API status", err)
	}
	got := shown.Status()
	if got.Code != want.code || got.Reason != want.reason {
		t.Errorf("got %d %s, want %d %s", got.Code, got.Reason, want.code, want.reason)
	}
	if strings.Contains(got.Message, "Thing") {
		t.Errorf("%q names an operation", got.Message)
	}
	if !strings.Contains(got.Message, "region") {
		t.Errorf("%q does not name the service", got.Message)
	}
	_, retry := apierrors.SuggestsClientDelay(err)
	if retry != (want.code == http.StatusServiceUnavailable) {
		t.Errorf("suggests to try again: %t", retry)
	}
	for _, text := range []string{err.Error(), got.Message} {
		if strings.Contains(text, prose) || strings.Contains(text, "hunter2") {
			t.Errorf("%q repeats what it must not", text)
		}
	}
}

func TestServiceDown(t *testing.T) {
	pki := unikorntest.NewPKI(t, "unikorn-compute")
	server := pki.Start(t, plain(200, "{}"))
	client := newClient(t, pki, server, 0)
	server.Close()
	_, err := unikorn.Call[thing](t.Context(), client, unikorn.Endpoint{Name: "MakeThing"}, send(client, http.MethodPost))
	check(t, err, failure{unikorn.Unavailable, false, 503, metav1.StatusReasonServiceUnavailable})
}

func TestTimeout(t *testing.T) {
	pki := unikorntest.NewPKI(t, "unikorn-compute")
	for name, first := range map[string]string{"no answer": "", "half an answer": "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"} {
		t.Run(name, func(t *testing.T) {
			done := make(chan struct{})
			server := pki.Start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				connection, buffer, err := w.(http.Hijacker).Hijack()
				if err != nil {
					panic(err)
				}
				_, _ = buffer.WriteString(first)
				_ = buffer.Flush()
				<-done
				_ = connection.Close()
			}))
			defer close(done)
			client := newClient(t, pki, server, 2*time.Second)
			_, err := unikorn.Call[thing](t.Context(), client, unikorn.Endpoint{Name: "MakeThing"}, send(client, http.MethodPost))
			check(t, err, timedOut)
		})
	}
}

func TestRetryAfterOfTheService(t *testing.T) {
	pki := unikorntest.NewPKI(t, "unikorn-compute")
	for value, want := range map[string]int{"7": 7, "": 1, "soon": 1, "-3": 1, "99999999999": 1} {
		client := newClient(t, pki, pki.Start(t, plain(503, "", "Retry-After", value)), 0)
		err := unikorn.Do(t.Context(), client, unikorn.Endpoint{Name: "MakeThing"}, send(client, http.MethodPost))
		if got, ok := apierrors.SuggestsClientDelay(err); !ok || got != want {
			t.Errorf("Retry-After %q: got %d, want %d", value, got, want)
		}
	}
}

func TestLists(t *testing.T) {
	pki := unikorntest.NewPKI(t, "unikorn-compute")
	for body, want := range map[string]int{"null": 0, "[]": 0, `[{"name":"a","added":"later"}]`: 1} {
		client := newClient(t, pki, pki.Start(t, plain(200, body)), 0)
		got, err := unikorn.List[thing](t.Context(), client, unikorn.Endpoint{Name: "ListThings"}, send(client, http.MethodGet))
		if err != nil || len(got) != want {
			t.Errorf("%s: got %v, %v", body, got, err)
		}
	}
	client := newClient(t, pki, pki.Start(t, hijacked("")), 0)
	_, err := unikorn.List[thing](t.Context(), client, unikorn.Endpoint{Name: "ListThings"}, send(client, http.MethodGet))
	if !unikorn.IsUnavailable(err) {
		t.Errorf("a dropped connection is %v", err)
	}
}

func TestErrorOfMakingTheRequestIsPassedOn(t *testing.T) {
	pki := unikorntest.NewPKI(t, "unikorn-compute")
	client := newClient(t, pki, pki.Start(t, plain(200, "{}")), 0)
	want := apierrors.NewForbidden(metav1.SchemeGroupVersion.WithResource("things").GroupResource(), "", errors.New("no"))
	err := unikorn.Do(t.Context(), client, unikorn.Endpoint{Name: "MakeThing"}, func(context.Context) (*http.Response, error) {
		return nil, want
	})
	if !apierrors.IsForbidden(err) || unikorn.OutcomeUnknown(err) {
		t.Errorf("got %v", err)
	}
}

func TestPredicates(t *testing.T) {
	pki := unikorntest.NewPKI(t, "unikorn-compute")
	predicates := map[string]func(error) bool{
		"not found": unikorn.IsNotFound, "forbidden": unikorn.IsForbidden, "conflict": unikorn.IsConflict,
		"unprocessable": unikorn.IsUnprocessable, "bad request": unikorn.IsBadRequest, "server error": unikorn.IsServerError,
		"not visible": unikorn.IsNotVisible, "unavailable": unikorn.IsUnavailable,
	}
	tests := map[string]struct {
		handler http.HandlerFunc
		edits   []func(*http.Request)
		holds   []string
	}{
		"404":                    {handler: refusal(404, "not_found"), holds: []string{"not found", "not visible"}},
		"404 of an ingress":      {handler: plain(404, ""), holds: []string{"unavailable"}},
		"403":                    {handler: refusal(403, "forbidden"), holds: []string{"forbidden"}},
		"403 to a person":        {handler: refusal(403, "forbidden"), edits: []func(*http.Request){impersonated}, holds: []string{"forbidden", "not visible"}},
		"409":                    {handler: refusal(409, "conflict"), holds: []string{"conflict"}},
		"422":                    {handler: refusal(422, "unprocessable_content"), holds: []string{"unprocessable"}},
		"400":                    {handler: refusal(400, "invalid_request"), holds: []string{"bad request"}},
		"500":                    {handler: refusal(500, "server_error"), holds: []string{"server error", "unavailable"}},
		"500 without its own":    {handler: plain(500, "panic"), holds: []string{"unavailable"}},
		"code that is no word":   {handler: refusal(404, "not found, see alpha's network"), holds: []string{"unavailable"}},
		"dropped, then reported": {handler: hijacked(""), holds: []string{"unavailable"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			client := newClient(t, pki, pki.Start(t, test.handler), 0)
			err := unikorn.Do(t.Context(), client, unikorn.Endpoint{Name: "GetThing"}, send(client, http.MethodGet, test.edits...))
			holds := strings.Join(test.holds, ",") + ","
			for predicate, says := range predicates {
				if says(err) != strings.Contains(holds, predicate+",") {
					t.Errorf("%s: %t for %v", predicate, says(err), err)
				}
			}
		})
	}
}
