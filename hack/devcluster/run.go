// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
)

func newRun(config *environment.Config) *cobra.Command {
	return &cobra.Command{
		Use:   "run",
		Short: "Start everything, show an Instance reach Running, and stop with Ctrl-C",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return run(command.Context(), *config, command.OutOrStdout())
		},
	}
}

func run(ctx context.Context, config environment.Config, out io.Writer) (err error) {
	e, err := start(ctx, config, out)
	if err != nil {
		return unlessStopped(ctx, err, out)
	}
	defer func() {
		fmt.Fprintln(out, "stopping")
		err = errors.Join(err, e.Stop())
	}()
	if err := showDemo(ctx, e, out); err != nil {
		return unlessStopped(ctx, err, out)
	}
	fmt.Fprintf(out, "\nTry, in another terminal:\n%s\nCtrl-C stops everything.\n", tour(config))
	stay(ctx, e, out)
	return nil
}

// start brings the environment up and creates the Instance demo.
func start(ctx context.Context, config environment.Config, out io.Writer) (*environment.Environment, error) {
	config.Progress = out
	fmt.Fprintf(out, "starting the environment (logs in %s/logs)\n", config.Folder)
	started := time.Now()
	e, err := environment.Start(ctx, config)
	if err != nil {
		return nil, err
	}
	if err := createDemo(ctx, config, e); err != nil {
		return nil, errors.Join(err, e.Stop())
	}
	fmt.Fprintf(out, "ready after %.0f s\n", time.Since(started).Seconds())
	return e, nil
}

// stay returns when ctx ends, and tells until then of components that ended.
func stay(ctx context.Context, e *environment.Environment, out io.Writer) {
	for {
		select {
		case <-ctx.Done():
			return
		case failure := <-e.Failures():
			fmt.Fprintf(out, "%s: the rest goes on without it\n%v\n", time.Now().Format(time.TimeOnly), failure)
		}
	}
}

// unlessStopped takes an error after somebody asked to stop for the answer to
// that.
func unlessStopped(ctx context.Context, err error, out io.Writer) error {
	if ctx.Err() == nil {
		return err
	}
	fmt.Fprintf(out, "stopped: %v\n", err)
	return nil
}

func newDown(config *environment.Config) *cobra.Command {
	return &cobra.Command{
		Use:   "down",
		Short: "Stop what runs and wait until no process is left",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			stopped, err := environment.Down(command.Context(), config.Folder, downPatience)
			switch {
			case err != nil:
				return err
			case stopped:
				fmt.Fprintln(command.OutOrStdout(), "stopped")
			default:
				fmt.Fprintln(command.OutOrStdout(), "not running")
			}
			return nil
		},
	}
}

// downPatience is more than a stop takes in which every component has to be
// killed.
const downPatience = time.Minute
