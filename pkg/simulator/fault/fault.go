// SPDX-License-Identifier: Apache-2.0

// Package fault makes requests to the simulated services go wrong on purpose.
package fault

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Fault says which requests go wrong, and how. Of several that match a request
// the first in the list is taken.
//
// Without TruncateBytes and with a Status, the fault is answered in place of
// the service. Without a Status the connection is dropped, unless the fault
// only slows the answer (LatencyMillis) or only cuts it (TruncateBytes): then
// the service's own answer is the one that is late or cut.
type Fault struct {
	// Service is region or identity; empty matches both.
	Service string `json:"service,omitempty"`
	// Method matches in full; empty matches every one.
	Method string `json:"method,omitempty"`
	// Path is a regular expression that matches anywhere in the path; empty
	// matches every one.
	Path string `json:"path,omitempty"`
	// Status to answer. 0 drops the connection without a byte.
	Status *int `json:"status,omitempty"`
	// Headers of the answer, put over the usual ones.
	Headers map[string]string `json:"headers,omitempty"`
	// Body of the answer: a JSON string is sent as its text, other JSON as it
	// is. Without one, statuses of the services carry their usual error body
	// and those of an ingress a page of HTML.
	Body json.RawMessage `json:"body,omitempty"`
	// LatencyMillis passes before the answer; before the service sees the
	// request unless AfterCommit is set.
	LatencyMillis int64 `json:"latencyMillis,omitempty"`
	// TruncateBytes is how many bytes of the body arrive before the connection
	// is dropped. 0 sends all of it.
	TruncateBytes int `json:"truncateBytes,omitempty"`
	// AfterCommit lets the service do its work first and loses its answer.
	AfterCommit bool `json:"afterCommit,omitempty"`
	// Times is how many requests go wrong, 0 for every one.
	Times int `json:"times,omitempty"`
}

// passes tells whether the answer is the service's own.
func (f Fault) passes() bool {
	return f.Status == nil && !f.AfterCommit && (f.LatencyMillis > 0 || f.TruncateBytes > 0)
}

// drops tells whether there is no answer at all.
func (f Fault) drops() bool {
	return !f.passes() && (f.Status == nil || *f.Status == 0)
}

func (f Fault) validate() error {
	switch {
	case f.Status != nil && *f.Status != 0 && (*f.Status < 200 || *f.Status > 599):
		return fmt.Errorf("status is %d, want 0 or 200 to 599", *f.Status)
	case f.LatencyMillis < 0, f.TruncateBytes < 0, f.Times < 0:
		return fmt.Errorf("latencyMillis, truncateBytes and times cannot be negative")
	case f.Service != "" && f.Service != "region" && f.Service != "identity":
		return fmt.Errorf("service is %q, want region or identity", f.Service)
	}
	return nil
}

type armed struct {
	Fault
	path *regexp.Regexp
	left int
}

// Set is the faults in force. It is safe for concurrent use.
type Set struct {
	mu     sync.Mutex
	faults []*armed
}

// Replace puts faults in force in place of the ones before. On an error
// nothing changes.
func (s *Set) Replace(faults []Fault) error {
	ready := make([]*armed, 0, len(faults))
	for i, fault := range faults {
		if err := fault.validate(); err != nil {
			return fmt.Errorf("fault %d: %w", i, err)
		}
		path, err := regexp.Compile(fault.Path)
		if err != nil {
			return fmt.Errorf("fault %d: path: %w", i, err)
		}
		ready = append(ready, &armed{Fault: fault, path: path, left: fault.Times})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = ready
	return nil
}

// List returns the faults in force; Times is how many requests are left to go
// wrong.
func (s *Set) List() []Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	faults := make([]Fault, 0, len(s.faults))
	for _, fault := range s.faults {
		left := fault.Fault
		left.Times = fault.left
		faults = append(faults, left)
	}
	return faults
}

// take returns the fault for a request and counts it.
func (s *Set) take(service string, r *http.Request) (Fault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.faults, func(f *armed) bool {
		return (f.Service == "" || f.Service == service) &&
			(f.Method == "" || strings.EqualFold(f.Method, r.Method)) &&
			f.path.MatchString(r.URL.Path)
	})
	if i < 0 {
		return Fault{}, false
	}
	fault := s.faults[i]
	if fault.Times > 0 {
		fault.left--
		if fault.left == 0 {
			s.faults = slices.Delete(s.faults, i, i+1)
		}
	}
	return fault.Fault, true
}
