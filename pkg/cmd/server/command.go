// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"

	"github.com/spf13/cobra"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/cli/globalflag"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/component-base/term"
	"k8s.io/component-base/version/verflag"

	genericapiserver "k8s.io/apiserver/pkg/server"
)

// NewCommand returns the command instance-apiserver.
func NewCommand() *cobra.Command {
	options := NewOptions()
	cmd := &cobra.Command{
		Use:   "instance-apiserver",
		Short: "Serve the platform's compute instances as a Kubernetes API",
		Long: `instance-apiserver serves compute.unikorn-cloud.org/v1beta1 Instances behind the
aggregation layer of a Kubernetes cluster. It keeps them as ComputeInstances in
that cluster, checks what they refer to with the region service, and charges
them to the quota of the identity service. It keeps nothing itself: run as many
replicas as you like.`,
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			verflag.PrintAndExitIfRequested()
			if err := logsapi.ValidateAndApply(options.Logs, utilfeature.DefaultFeatureGate); err != nil {
				return err
			}
			if err := options.Validate(cmd.Flags()); err != nil {
				return err
			}
			return run(genericapiserver.SetupSignalContext(), options)
		},
	}
	sets := options.Flags()
	verflag.AddFlags(sets.FlagSet("global"))
	globalflag.AddGlobalFlags(sets.FlagSet("global"), cmd.Name())
	for _, set := range sets.FlagSets {
		cmd.Flags().AddFlagSet(set)
	}
	columns, _, err := term.TerminalSize(cmd.OutOrStdout())
	if err != nil {
		columns = 0
	}
	cliflag.SetUsageAndHelpFunc(cmd, sets, columns)
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w\nsee '%s --help'", err, cmd.CommandPath())
	})
	return cmd
}
