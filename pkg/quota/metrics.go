// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

// unconfirmedAllocations counts the allocations that may be charged for
// nothing: identity offers no list to find them in.
var unconfirmedAllocations = metrics.NewCounter(&metrics.CounterOpts{
	Namespace:      "instance_apiserver",
	Name:           "unconfirmed_allocations_total",
	Help:           "Requests for a quota allocation whose answer was lost, so that quota may be charged for nothing.",
	StabilityLevel: metrics.ALPHA,
})

// unsettledWrites counts the writes whose outcome is not known, and with it
// whether their allocation pays for anything.
var unsettledWrites = metrics.NewCounter(&metrics.CounterOpts{
	Namespace:      "instance_apiserver",
	Name:           "unsettled_writes_total",
	Help:           "Charged creates whose outcome in the host cluster could not be found out.",
	StabilityLevel: metrics.ALPHA,
})

func init() {
	legacyregistry.MustRegister(unconfirmedAllocations, unsettledWrites)
}
