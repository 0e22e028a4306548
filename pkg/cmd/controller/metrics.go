// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"k8s.io/component-base/metrics/legacyregistry"
	_ "k8s.io/component-base/metrics/prometheus/version" // kubernetes_build_info
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var _ metrics.RegistererGatherer = &bothRegistries{}

// bothRegistries gathers controller-runtime's metrics and those registered the
// way Kubernetes components do, which the calls to the platform are among.
type bothRegistries struct {
	metrics.RegistererGatherer
	components prometheus.Gatherer
}

// mergeMetrics makes controller-runtime serve both.
var mergeMetrics = sync.OnceFunc(func() {
	metrics.Registry = &bothRegistries{RegistererGatherer: metrics.Registry, components: legacyregistry.DefaultGatherer}
})

// Gather leaves out of the second registry what both have, such as the metrics
// of the process.
func (b *bothRegistries) Gather() ([]*dto.MetricFamily, error) {
	families, err := b.RegistererGatherer.Gather()
	if err != nil {
		return nil, err
	}
	known := make(map[string]bool, len(families))
	for _, family := range families {
		known[family.GetName()] = true
	}
	others, err := b.components.Gather()
	if err != nil {
		return nil, err
	}
	for _, family := range others {
		if !known[family.GetName()] {
			families = append(families, family)
		}
	}
	return families, nil
}
