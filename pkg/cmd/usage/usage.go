// SPDX-License-Identifier: Apache-2.0

// Package usage gives our commands flags in groups and the help that shows
// them.
package usage

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/cli/globalflag"
	"k8s.io/component-base/term"
)

// version is of the build. The Makefile has the linker set it. It is not the
// version in component-base, which is that of Kubernetes: feature gates go by it.
var version = "unknown"

// Attach adds the flags, and those that every command has, to the command.
func Attach(cmd *cobra.Command, sets cliflag.NamedFlagSets) {
	cmd.Version = version
	cmd.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	for _, set := range sets.FlagSets {
		cmd.Flags().AddFlagSet(set)
	}
	addGlobalFlags(cmd, sets.FlagSet("global"))
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

// addGlobalFlags adds what every command has. A command that configures its logs
// by flags of its own has some of them already, which come to the same in the
// end but for the help: there each would be twice.
func addGlobalFlags(cmd *cobra.Command, set *pflag.FlagSet) {
	common := pflag.NewFlagSet(cmd.Name(), pflag.ContinueOnError)
	common.Bool("version", false, "print the version and exit")
	globalflag.AddGlobalFlags(common, cmd.Name())
	common.VisitAll(func(flag *pflag.Flag) {
		if cmd.Flags().Lookup(flag.Name) == nil {
			set.AddFlag(flag)
		}
	})
	cmd.Flags().AddFlagSet(set)
}
