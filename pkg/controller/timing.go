// SPDX-License-Identifier: Apache-2.0

package controller

import "time"

// Timing says how often to look.
type Timing struct {
	// Steady is how often the servers of a network are listed while nothing on
	// it is expected to change.
	Steady time.Duration
	// Moving is how often while something is.
	Moving time.Duration
	// Resync is how often the charge of an instance is compared with what is due.
	Resync time.Duration
}

// DefaultTiming suits a region that observes its provider once a minute.
var DefaultTiming = Timing{Steady: 10 * time.Second, Moving: time.Second, Resync: 10 * time.Minute}

const (
	// readLag is longer than the platform's reads lag its writes:
	// docs/reference/wire.md, "Reads lag writes".
	readLag = time.Second
	// createLimit is when a request the platform received has come to an end,
	// whatever became of its answer: it gives up after 30 seconds.
	createLimit = 35 * time.Second
	// staleDelay is the wait for the watch to bring what the API server has.
	staleDelay = 200 * time.Millisecond
	// yieldDelay is the wait for something the platform does, in case the poll
	// does not show it.
	yieldDelay = 10 * time.Second
	// refusalDelay is the wait before asking again for what may be given later:
	// quota, a network, a name that is held by another object.
	refusalDelay = 30 * time.Second
	// missingLimit is how long an allocation may be not found before it is
	// taken for gone.
	missingLimit = 10 * time.Second
	// maxUpdateDelay bounds the wait between updates that do not take.
	maxUpdateDelay = time.Minute
	// hurry is how long after a pass a moving server is polled for often.
	hurry = 5 * time.Minute
	// powerLag is longer than region may show the power state of before after it
	// took a change of it: docs/reference/wire.md, "Power states".
	powerLag = 90 * time.Second
)
