// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"context"
	"net/http"
	"time"

	"k8s.io/utils/clock"
)

// Delay waits, or returns the error of the context when that ends first.
func Delay(ctx context.Context, clock clock.Clock, duration time.Duration) error {
	if duration <= 0 {
		return nil
	}
	timer := clock.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C():
		return nil
	}
}

// Slow delays every request by what latency says then.
func Slow(clock clock.Clock, latency func() time.Duration, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := Delay(r.Context(), clock, latency()); err != nil {
			Drop()
		}
		next.ServeHTTP(w, r)
	})
}
