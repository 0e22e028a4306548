// SPDX-License-Identifier: Apache-2.0

package ids

import (
	"fmt"

	"github.com/google/uuid"
)

// InstanceObjectName derives the object name of the instance called name on
// network, as region derives the id of its server: the UUIDv5 of the name in
// the network's namespace, hashed again until it starts with a letter, because
// the platform's object names are DNS-1035 labels. The rule and its vectors
// are in docs/reference/wire.md, "Derived names".
//
// It fails only for a network id that is not a UUID.
func InstanceObjectName(network NetworkID, name string) (InstanceID, error) {
	namespace, err := uuid.Parse(string(network))
	if err != nil {
		return "", fmt.Errorf("network id %q: %w", network, err)
	}
	id := uuid.NewSHA1(namespace, []byte(name))
	for startsWithDigit(id) {
		id = uuid.NewSHA1(namespace, id[:])
	}
	return InstanceID(id.String()), nil
}

func startsWithDigit(id uuid.UUID) bool {
	return id[0]>>4 < 10
}
