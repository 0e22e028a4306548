// SPDX-License-Identifier: Apache-2.0

// Command instance-controller keeps a server for every compute instance.
package main

import (
	"os"

	"k8s.io/component-base/cli"

	"github.com/unikorn-cloud/instance-apiserver/pkg/cmd/controller"
)

func main() {
	os.Exit(cli.Run(controller.NewCommand()))
}
