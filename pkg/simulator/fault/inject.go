// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"k8s.io/utils/clock"

	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/settings"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/wire"
)

// Injector puts the faults of a set into the way of requests.
type Injector struct {
	Faults *Set
	Clock  clock.Clock
}

// Inject passes requests to a service on unless a fault says otherwise.
func (i *Injector) Inject(service string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fault, found := i.Faults.take(service, r)
		if !found {
			next.ServeHTTP(w, r)
			return
		}
		answer := newAnswer()
		if fault.AfterCommit {
			next.ServeHTTP(answer, r)
		}
		if err := wire.Delay(r.Context(), i.Clock, settings.Millis(fault.LatencyMillis)); err != nil {
			wire.Drop()
		}
		switch {
		case fault.drops():
			wire.Drop()
		case fault.passes():
			next.ServeHTTP(answer, r)
		default:
			answer = fault.answer(r)
		}
		answer.send(w, fault.TruncateBytes)
	})
}

// answer is what the fault says in place of the service.
func (f Fault) answer(r *http.Request) *answer {
	a := newAnswer()
	switch {
	case len(f.Body) > 0:
		a.header.Set("Content-Type", "application/json")
		a.body = text(f.Body)
	case wire.Speaks(*f.Status):
		wire.WriteError(a, r, wire.Error(*f.Status, "injected fault"))
	case *f.Status >= http.StatusBadRequest:
		a.header.Set("Content-Type", "text/html")
		reason := fmt.Sprintf("%d %s", *f.Status, http.StatusText(*f.Status))
		a.body = fmt.Appendf(nil, "<html><head><title>%s</title></head><body><h1>%s</h1></body></html>\n", reason, reason)
	}
	a.status = *f.Status
	for name, value := range f.Headers {
		a.header.Set(name, value)
	}
	return a
}

func text(body json.RawMessage) []byte {
	var quoted string
	if err := json.Unmarshal(body, &quoted); err != nil {
		return body
	}
	return []byte(quoted)
}

// answer is a response held back.
type answer struct {
	header http.Header
	status int
	body   []byte
}

var _ http.ResponseWriter = &answer{}

func newAnswer() *answer {
	return &answer{header: http.Header{}, status: http.StatusOK}
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) { a.status = status }

func (a *answer) Write(body []byte) (int, error) {
	a.body = append(a.body, body...)
	return len(body), nil
}

// send writes the answer, all of it or, when truncate is above 0 and less than
// it is long, its beginning only, though the length announced is the full one.
func (a *answer) send(w http.ResponseWriter, truncate int) {
	for name, values := range a.header {
		w.Header()[name] = values
	}
	if truncate <= 0 || truncate >= len(a.body) {
		w.WriteHeader(a.status)
		wire.Write(w, a.body)
		return
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	w.WriteHeader(a.status)
	wire.Write(w, a.body[:truncate])
	if err := http.NewResponseController(w).Flush(); err != nil {
		wire.Drop()
	}
	wire.Drop()
}
