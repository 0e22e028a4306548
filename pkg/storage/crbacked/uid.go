// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/types"
)

// FacadeUID derives a façade object's uid from its custom resource's: the
// UUIDv5 of salt in the namespace that is the resource's uid. Two objects
// which shared a uid would mislead the garbage collector, which identifies
// owners by uid alone.
func FacadeUID(uid types.UID, salt string) types.UID {
	namespace, err := uuid.Parse(string(uid))
	if err != nil {
		// The host hands out UUIDs only. Whatever else this is still must not
		// pass for the custom resource's own.
		return types.UID(uuid.NewSHA1(uuid.Nil, []byte(string(uid)+salt)).String())
	}
	return types.UID(uuid.NewSHA1(namespace, []byte(salt)).String())
}
