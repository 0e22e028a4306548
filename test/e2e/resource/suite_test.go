// SPDX-License-Identifier: Apache-2.0

// Package resource tests an Instance as a resource of Kubernetes: what people do
// with kubectl and other controllers with a client, names, lists, deletion.
package resource

import (
	"testing"

	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

func TestResource(t *testing.T) {
	Run(t, "An Instance as a resource")
}
