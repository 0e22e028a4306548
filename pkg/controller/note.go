// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// note is what this process remembers of an object between passes. Losing it
// costs time or a repeated call, never a promise.
type note struct {
	uid types.UID

	// lastWrite is when this process last changed the server. Reads that began
	// less than the read lag later may not show it.
	lastWrite time.Time
	// createOpen is when a create of unknown outcome came back without an answer:
	// it may make a server yet. It is zero without one.
	createOpen time.Time
	// retried says that a later create made a server, so that one that is seen
	// does not say what became of the open one.
	retried bool

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
func (n *notes) of(object *v1alpha1.ComputeInstance, now, settleAt time.Time) *note {
	n.mu.Lock()
	defer n.mu.Unlock()
	key := types.NamespacedName{Namespace: object.Namespace, Name: object.Name}
	if found, ok := n.notes[key]; ok && found.uid == object.UID {
		return found
	}
	made := &note{uid: object.UID, settleAt: settleAt}
	if announced(object) {
		// By a process that is no more: what it sent, it sent before now.
		made.createOpen = now
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

// sighted is called when a server of the object was seen.
func (n *note) sighted(server *region.Server) {
	if !server.Deleting() && !n.retried {
		n.createOpen = time.Time{}
	}
	n.absentSince, n.takenSince = time.Time{}, time.Time{}
}

// created is called after a create, with its error.
func (n *note) created(now time.Time, err error) {
	n.lastWrite = now
	switch {
	case unikorn.OutcomeUnknown(err):
		n.createOpen, n.retried = now, false
	case err == nil:
		n.retried = !n.createOpen.IsZero()
	}
}

// quiet is when no create can make a server any more.
func (n *note) quiet() time.Time {
	if n.createOpen.IsZero() {
		return time.Time{}
	}
	return n.createOpen.Add(createLimit)
}

// visible is when what this process wrote or missed shows in what it reads.
func (n *note) visible() time.Time {
	visible := latest(n.lastWrite, n.absentSince)
	if visible.IsZero() {
		return visible
	}
	return visible.Add(readLag)
}

func latest(times ...time.Time) time.Time {
	var result time.Time
	for _, t := range times {
		if t.After(result) {
			result = t
		}
	}
	return result
}
