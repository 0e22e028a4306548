// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"github.com/spf13/cobra"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/unikorn-cloud/instance-apiserver/pkg/boundedlog"
	"github.com/unikorn-cloud/instance-apiserver/pkg/cmd/usage"
)

// NewCommand returns the command instance-controller.
func NewCommand() *cobra.Command {
	options := NewOptions()
	cmd := &cobra.Command{
		Use:   "instance-controller",
		Short: "Keep a server for every compute instance",
		Long: `instance-controller watches the ComputeInstances of a cluster. For each it keeps
one server in the region service, shows on the object what became of it, and
settles and gives back what the identity service charges for it. Run one
instance controller in a cluster: this one, in as many replicas as you like, or
the platform's own.`,
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(*cobra.Command, []string) error {
			if err := boundedlog.Setup(options.Logs); err != nil {
				return err
			}
			if err := options.Validate(); err != nil {
				return err
			}
			return run(genericapiserver.SetupSignalContext(), options)
		},
	}
	usage.Attach(cmd, options.Flags())
	return cmd
}
