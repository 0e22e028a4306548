// SPDX-License-Identifier: Apache-2.0

// unikorn-simulator stands in for the platform's region and identity services
// in development and tests.
package main

import (
	"os"

	"k8s.io/component-base/cli"
)

func main() {
	os.Exit(cli.Run(newCommand()))
}
