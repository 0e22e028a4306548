// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"io"
	"sync"
)

// Store holds the settings in force. It is safe for concurrent use.
type Store struct {
	mu      sync.Mutex
	current Settings
}

// NewStore returns a store that holds initial.
func NewStore(initial Settings) *Store {
	return &Store{current: initial}
}

// Get returns the settings in force.
func (s *Store) Get() Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

// Merge puts the members of a JSON object over the settings and returns the
// result. On an error nothing changes.
func (s *Store) Merge(patch io.Reader) (Settings, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	merged, err := s.current.Merge(patch)
	if err != nil {
		return s.current, err
	}
	s.current = merged
	return merged, nil
}
