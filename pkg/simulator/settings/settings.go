// SPDX-License-Identifier: Apache-2.0

// Package settings holds what can be changed about the simulator while it
// runs.
package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"
)

// Names of the two ways builds of region report a rebuild. The facts are in
// docs/reference/wire.md, "Life of a server".
const (
	// RebuildOld keeps a server provisioning, and Building, until the rebuild
	// is done.
	RebuildOld = "old"
	// RebuildNew has it provisioned, and Rebuilding, as soon as the provider
	// accepted.
	RebuildNew = "new"
)

// What becomes of a list for organizations the caller is not in.
const (
	// EmptyListsNull answers the JSON literal null: region's check of its own
	// answers is off.
	EmptyListsNull = "null"
	// EmptyListsDrop drops the connection without a byte: the check is on, and
	// null fails it. The same check fails on statuses that an operation does
	// not declare, so the 404 of a server create is dropped as well.
	EmptyListsDrop = "drop"
)

// maxMillis bounds every duration, and so how long a past must be remembered
// for reads that lag.
const maxMillis = int64(time.Hour / time.Millisecond)

// maxReadLagMillis is shorter than the time for which a past is remembered.
const maxReadLagMillis = int64(30 * time.Second / time.Millisecond)

// Settings is what can be changed about the simulator. Durations are in
// milliseconds.
type Settings struct {
	// RegionLatencyMillis and IdentityLatencyMillis delay every request.
	RegionLatencyMillis   int64 `json:"regionLatencyMillis"`
	IdentityLatencyMillis int64 `json:"identityLatencyMillis"`
	// BootMillis is the time from the request for a server, or for its start,
	// until it runs.
	BootMillis int64 `json:"bootMillis"`
	// StopMillis is the time from the request until a server is stopped.
	StopMillis int64 `json:"stopMillis"`
	// DeleteMillis is the time from the request until a server is gone.
	DeleteMillis int64 `json:"deleteMillis"`
	// RebuildMillis is the time from another image until the server runs it.
	RebuildMillis int64 `json:"rebuildMillis"`
	// SnapshotMillis is the time from the request until an image is ready.
	SnapshotMillis int64 `json:"snapshotMillis"`
	// ReadLagMillis is how far reads are behind writes.
	ReadLagMillis int64 `json:"readLagMillis"`
	// IdleMillis is how long an idle connection stays open.
	IdleMillis int64 `json:"idleMillis"`
	// RebuildStyle is RebuildOld or RebuildNew.
	RebuildStyle string `json:"rebuildStyle"`
	// EmptyLists is EmptyListsNull or EmptyListsDrop.
	EmptyLists string `json:"emptyLists"`
	// QuotasReadable lets services read the quotas of organizations. The
	// shipped roles of the services do not.
	QuotasReadable bool `json:"quotasReadable"`
}

// Default returns what a new simulator starts with: the behaviour observed on
// the running services, with a life cycle quick enough to watch.
func Default() Settings {
	return Settings{
		BootMillis:     3000,
		StopMillis:     1000,
		DeleteMillis:   2000,
		RebuildMillis:  3000,
		SnapshotMillis: 3000,
		ReadLagMillis:  150,
		IdleMillis:     1000,
		RebuildStyle:   RebuildNew,
		EmptyLists:     EmptyListsNull,
	}
}

// Merge returns the settings with the members of a JSON object put over them.
// Unknown members and values out of range are errors.
func (s Settings) Merge(patch io.Reader) (Settings, error) {
	raw, err := io.ReadAll(patch)
	if err != nil {
		return s, fmt.Errorf("settings: %w", err)
	}
	merged := s
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&merged); err != nil {
		return s, fmt.Errorf("settings: %w", err)
	}
	if err := merged.Validate(); err != nil {
		return s, err
	}
	return merged, nil
}

// Validate reports the first value that is out of range.
func (s Settings) Validate() error {
	for _, duration := range []struct {
		name   string
		millis int64
		limit  int64
	}{
		{"regionLatencyMillis", s.RegionLatencyMillis, maxMillis},
		{"identityLatencyMillis", s.IdentityLatencyMillis, maxMillis},
		{"bootMillis", s.BootMillis, maxMillis},
		{"stopMillis", s.StopMillis, maxMillis},
		{"deleteMillis", s.DeleteMillis, maxMillis},
		{"rebuildMillis", s.RebuildMillis, maxMillis},
		{"snapshotMillis", s.SnapshotMillis, maxMillis},
		{"readLagMillis", s.ReadLagMillis, maxReadLagMillis},
		{"idleMillis", s.IdleMillis, maxMillis},
	} {
		if duration.millis < 0 || duration.millis > duration.limit {
			return fmt.Errorf("settings: %s is %d, want 0 to %d", duration.name, duration.millis, duration.limit)
		}
	}
	if err := oneOf("rebuildStyle", s.RebuildStyle, RebuildOld, RebuildNew); err != nil {
		return err
	}
	return oneOf("emptyLists", s.EmptyLists, EmptyListsNull, EmptyListsDrop)
}

func oneOf(name, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return fmt.Errorf("settings: %s is %q, want one of %q", name, value, allowed)
}

// Millis is a number of milliseconds as a duration.
func Millis(millis int64) time.Duration {
	return time.Duration(millis) * time.Millisecond
}
