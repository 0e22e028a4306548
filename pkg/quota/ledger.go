// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"github.com/unikorn-cloud/instance-apiserver/pkg/identity"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

const (
	// resourceKind is the first half of the reference from an allocation to
	// what it is for, the plural and group of the stored object:
	// docs/reference/wire.md, "Allocations".
	resourceKind = "computeinstances.compute.unikorn-cloud.org"

	kindServers = "servers"
	kindGPUs    = "gpus"

	// DefaultAddressKind is the kind that public addresses are charged to
	// where nothing else is configured.
	DefaultAddressKind = "floatingips"
)

// Ledger writes costs as allocations and reads them back.
type Ledger struct {
	// AddressKind is the kind that public addresses are charged to.
	AddressKind string
	// Owner is the name of every allocation this cluster makes, so that what
	// is left behind can be told from other clusters' allocations.
	Owner string
}

// NewLedger returns the ledger of the cluster whose kube-system namespace has
// the given uid.
func NewLedger(addressKind, clusterUID string) Ledger {
	return Ledger{AddressKind: addressKind, Owner: "k8s-" + clusterUID}
}

// Allocation is the body that charges cost for the instance. All three kinds
// are always in it, zero or not.
func (l Ledger) Allocation(instance ids.InstanceID, cost Cost) identity.AllocationWrite {
	return identity.AllocationWrite{
		Metadata: unikorn.WriteMetadata{Name: l.Owner},
		Spec: identity.AllocationSpec{
			Kind: resourceKind,
			ID:   string(instance),
			Allocations: []identity.ResourceAllocation{
				{Kind: kindServers, Committed: cost.Servers},
				{Kind: kindGPUs, Committed: cost.GPUs},
				{Kind: l.AddressKind, Committed: cost.Addresses},
			},
		},
	}
}

// Charged is the cost that an allocation covers. Kinds that are not of an
// instance do not count.
func (l Ledger) Charged(allocation identity.AllocationSpec) Cost {
	var cost Cost
	for _, entry := range allocation.Allocations {
		amount := entry.Committed + entry.Reserved
		switch entry.Kind {
		case kindServers:
			cost.Servers += amount
		case kindGPUs:
			cost.GPUs += amount
		case l.AddressKind:
			cost.Addresses += amount
		}
	}
	return cost
}
