// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
)

const (
	// progressFD is where the supervisor tells how far it is. It is a pipe, so
	// its end without the word ready says that the supervisor is gone.
	progressFD = 3
	// ready is the last word on it.
	ready = "environment is up"
)

func newUp(config *environment.Config) *cobra.Command {
	return &cobra.Command{
		Use:   "up",
		Short: "Start everything in the background and return when it is ready",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return up(command.Context(), *config, command.OutOrStdout())
		},
	}
}

func newSupervise(config *environment.Config) *cobra.Command {
	return &cobra.Command{
		Use:    "supervise",
		Short:  "What up starts in the background",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return supervise(command.Context(), *config)
		},
	}
}

func up(ctx context.Context, config environment.Config, out io.Writer) (err error) {
	progress, theirs, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, progress.Close()) }()
	supervisor, err := startSupervisor(config, theirs)
	if err := errors.Join(err, theirs.Close()); err != nil {
		return err
	}
	stopWaiting := context.AfterFunc(ctx, func() {
		// The supervisor stops what it started; its end closes the pipe.
		if err := supervisor.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
			fmt.Fprintln(out, err)
		}
	})
	defer stopWaiting()
	lines := bufio.NewScanner(progress)
	for lines.Scan() {
		if lines.Text() == ready {
			fmt.Fprintf(out, "\nTry:\n%s\n\"make down\" stops it.\n", tour(config))
			return supervisor.Process.Release()
		}
		fmt.Fprintln(out, lines.Text())
	}
	if err := errors.Join(lines.Err(), supervisor.Wait()); err != nil {
		return notUp(err)
	}
	return errors.New("stopped before the environment was up")
}

// errTold is an error that the supervisor has told of.
var errTold = errors.New("the environment did not come up")

// notUp is the error after a supervisor that ended by err. One that ended by
// itself has said why, and its status says no more.
func notUp(err error) error {
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.Exited() {
		return errTold
	}
	return fmt.Errorf("the environment did not come up: %w", err)
}

// supervise is run in the background: it goes on until it is told to stop.
func supervise(ctx context.Context, config environment.Config) (err error) {
	progress, err := openProgress()
	if err != nil {
		return err
	}
	out := io.MultiWriter(os.Stdout, progress)
	e, err := start(ctx, config, out)
	if err != nil {
		if err := unlessStopped(ctx, err, out); err != nil {
			fmt.Fprintln(progress, "devcluster:", err)
			return err
		}
		return nil
	}
	defer func() { err = errors.Join(err, e.Stop()) }()
	fmt.Fprintln(out, ready)
	if err := progress.Close(); err != nil {
		return err
	}
	stay(ctx, e, os.Stdout)
	return nil
}

// openProgress returns the pipe to whoever started the supervisor.
func openProgress() (*os.File, error) {
	progress := os.NewFile(progressFD, "progress")
	info, err := progress.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return nil, errors.New("only \"devcluster up\" starts the supervisor")
	}
	return progress, nil
}

// startSupervisor runs this program again, outside of the terminal's session.
func startSupervisor(config environment.Config, progress *os.File) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	file := environment.Folder(config.Folder).SupervisorLog()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, err
	}
	log, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	command := exec.Command(self, "supervise", //nolint:noctx // it outlives whoever starts it
		"--folder", config.Folder, "--binaries", config.Binaries, "--artifacts", config.Artifacts)
	command.Stdout, command.Stderr = log, log
	command.ExtraFiles = []*os.File{progress}
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return command, errors.Join(command.Start(), log.Close())
}
