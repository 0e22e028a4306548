// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
)

// note is what this process remembers of an object between passes. Losing it
// costs time or a repeated call, never a promise.
type note struct {
	uid types.UID

	// lastWrite is when this process last changed the server. Reads that began
	// less than the read lag later may not show it.
	lastWrite time.Time
	// createKnown says that the outcome of every create of a server is known.
	createKnown bool
	// createOpen is when the last create with unknown outcome came back.
	createOpen time.Time

	// deletionSeen is when deletion was first seen.
	deletionSeen time.Time
	// absentSince is when the server of a deleted object was first not there.
	absentSince time.Time
	// takenSince is when the name was first held by a foreign server.
	takenSince time.Time
	// missingSince is when the allocation was first not found.
	missingSince time.Time

	// parked is the refusal that holds while fingerprint does.
	parked      *halt
	fingerprint string

	updates  attempts
	replaced replacement

	// settleAt is when the charge is next compared with what is due.
	settleAt time.Time
	// opened is a charge made for the object and not stored on it yet.
	opened ids.AllocationID
}

// attempts counts updates of a server to the same generation.
type attempts struct {
	generation int64
	count      int
	last       time.Time
}

// replacement tells which server was last removed to be replaced. Its id is
// also the next one's.
type replacement struct {
	generation int64
	created    time.Time
}

// notes are the notes of all objects. A note belongs to the pass over its
// object; there is never more than one.
type notes struct {
	mu    sync.Mutex
	notes map[types.NamespacedName]*note
}

// of returns the note of an object, a new one for a new object of the name.
func (n *notes) of(object *v1alpha1.ComputeInstance, settleAt time.Time) *note {
	n.mu.Lock()
	defer n.mu.Unlock()
	key := types.NamespacedName{Namespace: object.Namespace, Name: object.Name}
	if found, ok := n.notes[key]; ok && found.uid == object.UID {
		return found
	}
	made := &note{
		uid:      object.UID,
		settleAt: settleAt,
		// Available is stored before the first create.
		createKnown: meta.FindStatusCondition(object.Status.Conditions, v1alpha1.ConditionAvailable) == nil,
	}
	if n.notes == nil {
		n.notes = map[types.NamespacedName]*note{}
	}
	n.notes[key] = made
	return made
}

func (n *notes) forget(key types.NamespacedName) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.notes, key)
}

// sighted is called when a server of the object was seen. Unless that is on its
// way out, and the next one may be under way, no create is open any more.
func (n *note) sighted(server *region.Server) {
	if !server.Deleting() {
		n.createKnown, n.createOpen = true, time.Time{}
	}
	n.absentSince, n.takenSince = time.Time{}, time.Time{}
}

// created is called after a create, with whether its outcome is unknown.
func (n *note) created(now time.Time, unknown bool) {
	n.lastWrite, n.createKnown, n.createOpen = now, true, time.Time{}
	if unknown {
		n.createOpen = now
	}
}
