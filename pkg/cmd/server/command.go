// SPDX-License-Identifier: Apache-2.0

package server

import (
	"github.com/spf13/cobra"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/unikorn-cloud/instance-apiserver/pkg/boundedlog"
	"github.com/unikorn-cloud/instance-apiserver/pkg/cmd/usage"
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
			if err := boundedlog.Setup(options.Logs); err != nil {
				return err
			}
			if err := options.Validate(cmd.Flags()); err != nil {
				return err
			}
			return run(genericapiserver.SetupSignalContext(), options)
		},
	}
	usage.Attach(cmd, options.Flags())
	return cmd
}
