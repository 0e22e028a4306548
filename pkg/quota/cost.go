// SPDX-License-Identifier: Apache-2.0

// Package quota says what an instance costs of its organization's quota, and
// charges it around the write that stores the instance.
package quota

// Cost is what one instance takes of its organization's quota.
type Cost struct {
	// Servers is 1 for every instance.
	Servers int
	// GPUs is the number of physical GPUs of the flavor.
	GPUs int
	// Addresses is the number of public addresses.
	Addresses int
}

// CostOf is the cost of an instance whose flavor has gpus physical GPUs.
func CostOf(gpus int, publicIP bool) Cost {
	cost := Cost{Servers: 1, GPUs: gpus}
	if publicIP {
		cost.Addresses = 1
	}
	return cost
}

// Max is the larger of both, kind by kind: what must be charged while it is
// open which of the two holds.
func (c Cost) Max(other Cost) Cost {
	return Cost{
		Servers:   max(c.Servers, other.Servers),
		GPUs:      max(c.GPUs, other.GPUs),
		Addresses: max(c.Addresses, other.Addresses),
	}
}

// Covers says whether a charge of c is enough for other.
func (c Cost) Covers(other Cost) bool {
	return c.Max(other) == c
}
