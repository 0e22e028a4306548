// SPDX-License-Identifier: Apache-2.0

package consolelog

import (
	"context"
	"net/http"
	"sync"
	"time"

	"k8s.io/apiserver/pkg/endpoints/responsewriter"
)

type answerKey struct{}

// Bounded serves streams of followers to clients that need not read them. One
// that lets a write wait for longer than patience is cut off, and one whose
// stream has ended even sooner.
func Bounded(next http.Handler, patience time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := &answer{ResponseWriter: w, controller: http.NewResponseController(w), patience: patience}
		defer a.finish()
		next.ServeHTTP(responsewriter.WrapForHTTP1Or2(a), r.WithContext(context.WithValue(r.Context(), answerKey{}, a)))
	})
}

// hurry has what is written to the client of a request be written within the
// time, or not at all.
func hurry(ctx context.Context, within time.Duration) {
	if a, ok := ctx.Value(answerKey{}).(*answer); ok {
		a.hurry(within)
	}
}

var (
	_ responsewriter.UserProvidedDecorator = &answer{}
	_ http.Flusher                         = &answer{}
)

// answer has a deadline while it writes, and none while there is nothing to
// write: with HTTP/2 a deadline that passes ends the stream in any case.
type answer struct {
	http.ResponseWriter
	controller *http.ResponseController
	patience   time.Duration

	mu sync.Mutex
	// last is after which nothing is written, if set.
	last time.Time
	// finished is set when the connection may be another request's.
	finished bool
}

// Unwrap implements responsewriter.UserProvidedDecorator.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// Write implements http.ResponseWriter.
func (a *answer) Write(content []byte) (int, error) {
	if err := a.expectProgress(); err != nil {
		return 0, err
	}
	written, err := a.ResponseWriter.Write(content)
	if err != nil {
		return written, err
	}
	return written, a.rest()
}

// Flush implements http.Flusher. What fails here cancels the request.
func (a *answer) Flush() {
	if a.expectProgress() == nil && a.controller.Flush() == nil {
		_ = a.rest()
	}
}

// expectProgress is before a write.
func (a *answer) expectProgress() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	deadline := time.Now().Add(a.patience)
	if !a.last.IsZero() && a.last.Before(deadline) {
		deadline = a.last
	}
	return a.controller.SetWriteDeadline(deadline)
}

// rest is after a write.
func (a *answer) rest() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.last.IsZero() {
		return nil
	}
	return a.controller.SetWriteDeadline(time.Time{})
}

func (a *answer) hurry(within time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.finished {
		return
	}
	a.last = time.Now().Add(within)
	// A connection that takes no deadline has failed.
	_ = a.controller.SetWriteDeadline(a.last)
}

// finish leaves a deadline for what the server writes at the end of an answer.
// The server takes it back.
func (a *answer) finish() {
	a.mu.Lock()
	a.finished = true
	a.mu.Unlock()
	_ = a.expectProgress()
}
