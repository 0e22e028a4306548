// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"strings"
	"time"
)

// +k8s:deepcopy-gen=false

// PowerRequest is the last change of power that was asked for through
// Instances and that region took: the value of AnnotationPowerRequested.
type PowerRequest struct {
	// State is the power state that was asked for, Running or Stopped.
	State string
	// Time is when, by the clock of the API server and before region was called:
	// what region shows from then on may be of the request, never of before it
	// but for how far its reads are behind.
	Time time.Time
}

// String is the value of the annotation: the state, a space, and the time as in
// RFC 3339.
func (r PowerRequest) String() string {
	return r.State + " " + r.Time.UTC().Format(time.RFC3339Nano)
}

// PowerRequestOf reads the annotation. It is false without one, and for one that
// is malformed.
func PowerRequestOf(annotations map[string]string) (PowerRequest, bool) {
	state, text, _ := strings.Cut(annotations[AnnotationPowerRequested], " ")
	asked, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || state == "" {
		return PowerRequest{}, false
	}
	return PowerRequest{State: state, Time: asked}, true
}
