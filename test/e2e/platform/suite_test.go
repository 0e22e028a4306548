// SPDX-License-Identifier: Apache-2.0

// Package platform tests what a write asks of the platform and does in it:
// references, user data, tenancy, quota, and what the controller makes of it.
package platform

import (
	"testing"

	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

func TestPlatform(t *testing.T) {
	Run(t, "An Instance and the platform")
}
