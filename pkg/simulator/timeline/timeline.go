// SPDX-License-Identifier: Apache-2.0

// Package timeline keeps values that change with time, some of them in the
// future. A reader asks what was there at a moment, so a state that moves by
// itself needs no timers and a cache that lags is a reader that asks about a
// moment ago.
package timeline

import (
	"time"
)

// Retention is how far back a timeline can be asked. Older states may have
// been forgotten.
const Retention = time.Minute

type entry[T any] struct {
	at      time.Time
	value   T
	present bool
}

// Timeline is the history and the plan of one value. The zero Timeline holds
// nothing at any moment. Values are shared between the moments: a caller
// replaces what is inside a value rather than changing it.
type Timeline[T any] struct {
	entries []entry[T]
}

// At returns the value at a moment, and whether there was one.
func (t *Timeline[T]) At(when time.Time) (T, bool) {
	if i := t.index(when); i >= 0 {
		return t.entries[i].value, t.entries[i].present
	}
	var none T
	return none, false
}

// Set makes value the one from now on. Whatever was planned is dropped.
func (t *Timeline[T]) Set(now time.Time, value T) {
	t.put(now, entry[T]{at: now, value: value, present: true})
}

// Remove leaves nothing from now on.
func (t *Timeline[T]) Remove(now time.Time) {
	t.put(now, entry[T]{at: now})
}

// Plan makes value the one from a moment after everything planned so far.
func (t *Timeline[T]) Plan(at time.Time, value T) {
	t.entries = append(t.entries, entry[T]{at: at, value: value, present: true})
}

// PlanRemoval leaves nothing from a moment after everything planned so far.
func (t *Timeline[T]) PlanRemoval(at time.Time) {
	t.entries = append(t.entries, entry[T]{at: at})
}

// Edit changes the value from now on and keeps the plan, with the same change
// made to every planned value.
func (t *Timeline[T]) Edit(now time.Time, change func(T) T) {
	i := t.index(now)
	if i < 0 || !t.entries[i].present {
		return
	}
	future := append([]entry[T](nil), t.entries[i+1:]...)
	t.Set(now, change(t.entries[i].value))
	for _, next := range future {
		if next.present {
			next.value = change(next.value)
		}
		t.entries = append(t.entries, next)
	}
}

// Last returns the final planned state and when it begins.
func (t *Timeline[T]) Last() (T, time.Time) {
	last := t.entries[len(t.entries)-1]
	return last.value, last.at
}

// goneBefore tells whether nothing is left at or after a moment.
func (t *Timeline[T]) goneBefore(when time.Time) bool {
	for i := max(t.index(when), 0); i < len(t.entries); i++ {
		if t.entries[i].present {
			return false
		}
	}
	return true
}

func (t *Timeline[T]) put(now time.Time, e entry[T]) {
	kept := t.index(now) + 1
	first := max(t.index(now.Add(-Retention)), 0)
	t.entries = append(append([]entry[T](nil), t.entries[min(first, kept):kept]...), e)
}

// index returns the position of the entry in force at a moment, or -1. Later
// entries win among those of one moment.
func (t *Timeline[T]) index(when time.Time) int {
	for i := len(t.entries) - 1; i >= 0; i-- {
		if !t.entries[i].at.After(when) {
			return i
		}
	}
	return -1
}
