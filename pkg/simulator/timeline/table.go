// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"cmp"
	"slices"
	"time"
)

// Table holds one timeline a key. It is not safe for concurrent use.
type Table[K cmp.Ordered, T any] struct {
	rows map[K]*Timeline[T]
}

// NewTable returns an empty table.
func NewTable[K cmp.Ordered, T any]() *Table[K, T] {
	return &Table[K, T]{rows: map[K]*Timeline[T]{}}
}

// Get returns the value of key at a moment, and whether there was one.
func (t *Table[K, T]) Get(key K, when time.Time) (T, bool) {
	return t.Row(key).At(when)
}

// Row returns the timeline of key. That of an unknown key is empty and not
// part of the table.
func (t *Table[K, T]) Row(key K) *Timeline[T] {
	if row, found := t.rows[key]; found {
		return row
	}
	return &Timeline[T]{}
}

// Set makes value that of key from now on and returns its timeline, on which
// a plan can be laid.
func (t *Table[K, T]) Set(key K, now time.Time, value T) *Timeline[T] {
	row := t.Row(key)
	row.Set(now, value)
	t.rows[key] = row
	return row
}

// Select returns the values at a moment that keep accepts, ordered by key.
func (t *Table[K, T]) Select(when time.Time, keep func(T) bool) []T {
	type pair struct {
		key   K
		value T
	}
	var found []pair
	for key, row := range t.rows {
		if value, present := row.At(when); present && keep(value) {
			found = append(found, pair{key, value})
		}
	}
	slices.SortFunc(found, func(a, b pair) int { return cmp.Compare(a.key, b.key) })
	values := make([]T, len(found))
	for i := range found {
		values[i] = found[i].value
	}
	return values
}

// Forget drops what nobody can ask about any more: rows with nothing left
// since Retention before now.
func (t *Table[K, T]) Forget(now time.Time) {
	for key, row := range t.rows {
		if row.goneBefore(now.Add(-Retention)) {
			delete(t.rows, key)
		}
	}
}

// Each visits the values at a moment, in no order.
func (t *Table[K, T]) Each(when time.Time, visit func(T)) {
	for _, row := range t.rows {
		if value, present := row.At(when); present {
			visit(value)
		}
	}
}
