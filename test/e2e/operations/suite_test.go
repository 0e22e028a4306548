// SPDX-License-Identifier: Apache-2.0

// Package operations tests how a machine is operated through its subresources,
// and who may do what.
package operations

import (
	"testing"

	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

func TestOperations(t *testing.T) {
	Run(t, "Operating Instances")
}
