// SPDX-License-Identifier: Apache-2.0

package server

import (
	"testing"

	"k8s.io/client-go/rest"
)

// At client-go's default of 5 requests a second, a replica stores no more than
// two instances and a half.
func TestUnlimited(t *testing.T) {
	given := &rest.Config{Host: "https://host.example"}
	config := unlimited(given)
	if config.Host != given.Host || config.QPS >= 0 || config.RateLimiter != nil {
		t.Errorf("%s is asked %v times a second, want without limit", config.Host, config.QPS)
	}
	if given.QPS != 0 {
		t.Error("the configuration of others was changed")
	}
}
