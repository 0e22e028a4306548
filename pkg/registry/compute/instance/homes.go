// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"k8s.io/utils/lru"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/tenancy"
)

// maxHomes bounds the memory of a server that has seen many networks come and
// go.
const maxHomes = 4096

// homes remembers in which regions networks are, which never changes. So what
// a region offers need not wait for the network to be looked up. A network is
// remembered as its owner's, once it was seen to be: what is remembered never
// makes a difference to who does not own it.
type homes struct {
	known *lru.Cache
}

type ownedNetwork struct {
	owner   tenancy.Scope
	network ids.NetworkID
}

func newHomes() *homes {
	return &homes{known: lru.New(maxHomes)}
}

// of returns the region of a network, "" when it is not known.
func (h *homes) of(owner tenancy.Scope, network ids.NetworkID) ids.RegionID {
	found, ok := h.known.Get(ownedNetwork{owner, network})
	if !ok {
		return ""
	}
	return found.(ids.RegionID)
}

func (h *homes) remember(owner tenancy.Scope, network ids.NetworkID, region ids.RegionID) {
	h.known.Add(ownedNetwork{owner, network}, region)
}
