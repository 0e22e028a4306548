// SPDX-License-Identifier: Apache-2.0

// Command unikorn-simulator stands in for the platform's region and identity
// services in development and tests.
package main

import (
	"os"

	"k8s.io/component-base/cli"

	"github.com/unikorn-cloud/instance-apiserver/pkg/cmd/simulator"
)

func main() {
	os.Exit(cli.Run(simulator.NewCommand()))
}
