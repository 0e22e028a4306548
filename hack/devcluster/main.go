// SPDX-License-Identifier: Apache-2.0

// Devcluster runs the development environment: "devcluster run" in the
// foreground, "devcluster up" and "devcluster down" in the background.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
)

func main() {
	// The signals stay caught: to stop takes a moment, and a second Ctrl-C in it
	// must not leave half of the environment behind.
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := newCommand().ExecuteContext(ctx)
	release()
	if err != nil {
		if !errors.Is(err, errTold) {
			fmt.Fprintln(os.Stderr, "devcluster:", err)
		}
		os.Exit(1)
	}
}

func newCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "devcluster",
		Short: "A Kubernetes control plane with the instance API on this machine",
		Long: "Runs etcd, kube-apiserver, kube-controller-manager, the simulator of the\n" +
			"platform, two replicas of instance-apiserver and instance-controller, all on\n" +
			"127.0.0.1, with the people and projects of the fixture and an Instance called\n" +
			"demo. Only the logs are kept when it stops, until the next start.",
		PersistentPreRunE: func(*cobra.Command, []string) error {
			return keepDescriptors()
		},
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	config := environment.InClone(".", ".run")
	flags := root.PersistentFlags()
	flags.StringVar(&config.Folder, "folder", config.Folder, "where to keep kubeconfigs, logs and the rest")
	flags.StringVar(&config.Binaries, "binaries", config.Binaries, "where the programs are")
	flags.StringVar(&config.Artifacts, "artifacts", config.Artifacts, "where the manifests are")
	root.AddCommand(newRun(&config), newUp(&config), newSupervise(&config), newDown(&config))
	return root
}
