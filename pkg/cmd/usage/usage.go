// SPDX-License-Identifier: Apache-2.0

// Package usage gives our commands flags in groups and the help that shows
// them.
package usage

import (
	"fmt"

	"github.com/spf13/cobra"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/cli/globalflag"
	"k8s.io/component-base/term"
	"k8s.io/component-base/version/verflag"
)

// Attach adds the flags, and those that every command has, to the command.
func Attach(cmd *cobra.Command, sets cliflag.NamedFlagSets) {
	verflag.AddFlags(sets.FlagSet("global"))
	globalflag.AddGlobalFlags(sets.FlagSet("global"), cmd.Name())
	for _, set := range sets.FlagSets {
		cmd.Flags().AddFlagSet(set)
	}
	// Output that is no terminal has no width: lines are not wrapped then.
	columns, _, err := term.TerminalSize(cmd.OutOrStdout())
	if err != nil {
		columns = 0
	}
	cliflag.SetUsageAndHelpFunc(cmd, sets, columns)
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w\nsee '%s --help'", err, cmd.CommandPath())
	})
}
