// SPDX-License-Identifier: Apache-2.0

// Package requestlog remembers which requests a service received: the line and
// who sent it, never a body.
package requestlog

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// kept bounds the memory of a simulator that runs for long.
const kept = 100_000

// Entry is one request. It appears when the request arrives; Status is 0 until
// it was answered, and stays 0 when the connection was dropped instead.
type Entry struct {
	// Service is region or identity.
	Service string `json:"service"`
	Method  string `json:"method"`
	Path    string `json:"path"`
	Query   string `json:"query"`
	// Principal is the payload of X-Principal, null when there was none to
	// read.
	Principal json.RawMessage `json:"principal"`
	// PrincipalForm is A, B or empty.
	PrincipalForm string `json:"principalForm"`
	// Impersonate tells whether X-Impersonate was true.
	Impersonate    bool      `json:"impersonate"`
	Status         int       `json:"status"`
	StartedAt      time.Time `json:"startedAt"`
	DurationMillis int64     `json:"durationMillis"`
	Traceparent    string    `json:"traceparent"`
}

// Log holds the requests received. It is safe for concurrent use.
type Log struct {
	clock clock.PassiveClock

	mu      sync.Mutex
	entries []*Entry
}

// New returns an empty log.
func New(clock clock.PassiveClock) *Log {
	return &Log{clock: clock}
}

// Entries returns the requests in the order they arrived.
func (l *Log) Entries() []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	entries := make([]Entry, len(l.entries))
	for i, entry := range l.entries {
		entries[i] = *entry
	}
	return entries
}

// Forget empties the log.
func (l *Log) Forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = nil
}

// Record remembers every request to a service before passing it on.
func (l *Log) Record(service string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		entry := l.arrived(service, r)
		recorder := &statusRecorder{ResponseWriter: w}
		defer func() { l.answered(entry, recorder.status) }()
		next.ServeHTTP(recorder, r)
	})
}

func (l *Log) arrived(service string, r *http.Request) *Entry {
	form, payload := principal(r.Header.Get("X-Principal"))
	entry := &Entry{
		Service: service, Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery,
		Principal: payload, PrincipalForm: form,
		Impersonate: r.Header.Get("X-Impersonate") == "true",
		StartedAt:   l.clock.Now(),
		Traceparent: r.Header.Get("traceparent"),
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.entries) >= kept {
		l.entries = slices.Clone(l.entries[kept/2:])
	}
	l.entries = append(l.entries, entry)
	return entry
}

func (l *Log) answered(entry *Entry, status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	entry.Status = status
	entry.DurationMillis = l.clock.Since(entry.StartedAt).Milliseconds()
	klog.V(2).InfoS("Answered", "service", entry.Service, "method", entry.Method, "path", entry.Path,
		"status", status, "millis", entry.DurationMillis)
}

// principal reads the payload of an X-Principal header in either form, without
// judging it: the service does that.
func principal(header string) (form string, payload json.RawMessage) {
	if raw, err := base64.RawURLEncoding.DecodeString(header); err == nil && json.Valid(raw) {
		return "A", raw
	}
	if parts := strings.Split(header, "."); len(parts) == 3 {
		if raw, err := base64.RawURLEncoding.DecodeString(parts[1]); err == nil && json.Valid(raw) {
			return "B", raw
		}
	}
	return "", nil
}

type statusRecorder struct {
	http.ResponseWriter
	status int
}

func (s *statusRecorder) WriteHeader(status int) {
	if s.status == 0 {
		s.status = status
	}
	s.ResponseWriter.WriteHeader(status)
}

func (s *statusRecorder) Write(body []byte) (int, error) {
	if s.status == 0 {
		s.status = http.StatusOK
	}
	return s.ResponseWriter.Write(body)
}

// Unwrap lets http.ResponseController reach the connection.
func (s *statusRecorder) Unwrap() http.ResponseWriter {
	return s.ResponseWriter
}
