// SPDX-License-Identifier: Apache-2.0

// Command instance-apiserver serves the platform's compute instances as a
// Kubernetes API.
package main

import (
	"os"

	"k8s.io/component-base/cli"

	"github.com/unikorn-cloud/instance-apiserver/pkg/cmd/server"
)

func main() {
	os.Exit(cli.Run(server.NewCommand()))
}
