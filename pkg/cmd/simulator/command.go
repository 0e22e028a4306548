// SPDX-License-Identifier: Apache-2.0

// Package simulator is the command that simulates the platform.
package simulator

import (
	"context"
	"fmt"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/unikorn-cloud/instance-apiserver/pkg/cmd/usage"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator"
)

const long = `Simulate the platform's region and identity services, in memory.

Both answer over TLS to clients that present a certificate of --client-ca-file;
the certificate's common name is the calling service, unikorn-compute for
instances. The admin API is plain HTTP on loopback: GET / on it lists its calls.
Organizations, projects, people, networks, flavors and images of a fixture are
there from the start. Everything is gone when the simulator ends.`

// NewCommand returns the command unikorn-simulator.
func NewCommand() *cobra.Command {
	o := newOptions()
	command := &cobra.Command{
		Use:   "unikorn-simulator",
		Short: "Simulate the platform's region and identity services",
		Long:  long,
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(command.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			return run(ctx, o)
		},
	}
	usage.Attach(command, o.flags())
	return command
}

func run(ctx context.Context, o *options) error {
	initial, err := o.settings()
	if err != nil {
		return err
	}
	identities, err := o.tlsConfig()
	if err != nil {
		return err
	}
	simulated, err := simulator.New(clock.RealClock{}, initial)
	if err != nil {
		return err
	}
	listeners, err := o.listen(ctx)
	if err != nil {
		return err
	}
	where := addressesOf(listeners)
	if err := where.write(o.addressesFile); err != nil {
		return err
	}
	klog.InfoS("Simulating", "region", where.Region, "identity", where.Identity, "admin", where.Admin)
	if err := simulated.Serve(ctx, listeners, identities); err != nil {
		return fmt.Errorf("simulator: %w", err)
	}
	return nil
}
