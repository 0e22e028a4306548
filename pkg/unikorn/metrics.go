// SPDX-License-Identifier: Apache-2.0

package unikorn

import (
	"sync"
	"time"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

// requestDuration counts and times calls. Its label values are few: two
// services, the operations of their descriptions, and the statuses they send.
var requestDuration = metrics.NewHistogramVec(&metrics.HistogramOpts{
	Name: "unikorn_client_request_duration_seconds",
	Help: "Duration of calls to services of the platform by service, operation and HTTP status. " +
		"Without a complete answer the status is timeout, canceled, unreachable (nothing was sent), dropped or garbled.",
	Buckets:        []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30},
	StabilityLevel: metrics.ALPHA,
}, []string{"service", "operation", "status"})

var registerMetrics = sync.OnceFunc(func() {
	legacyregistry.MustRegister(requestDuration)
})

func observe(service Service, operation, status string, started time.Time) {
	requestDuration.WithLabelValues(string(service), operation, status).Observe(time.Since(started).Seconds())
}
