// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/process"
)

const (
	// patience with a component that does not become ready.
	patience = 2 * time.Minute
	// reminder is how often a person is told what is waited for.
	reminder = 10 * time.Second
	// pollInterval of the checks.
	pollInterval = 50 * time.Millisecond
	// grace for a component to end by itself. Nothing of its state is kept.
	grace = 5 * time.Second
)

// component is a program of the environment.
type component struct {
	process *process.Process
	watched chan struct{}
}

// launch starts binary as the component name and returns when ready succeeds.
func (e *Environment) launch(ctx context.Context, name, binary string, arguments []string, ready check) error {
	started, err := process.Start(process.Command{
		Path:    e.config.binary(binary),
		Args:    arguments,
		LogFile: e.Log(name),
		PidFile: e.pidFile(name),
	})
	if err != nil {
		return err
	}
	c := &component{process: started, watched: make(chan struct{})}
	e.components = append(e.components, c)
	go e.watch(name, c)
	if err := e.until(ctx, name+" to be ready", ready); err != nil {
		return withLog(err, started)
	}
	return nil
}

// watch reports a component that ends though nobody stopped it, and gives up a
// start that goes on.
func (e *Environment) watch(name string, c *component) {
	defer close(c.watched)
	<-c.process.Ended()
	if e.stopping.Load() {
		return
	}
	failure := &ComponentError{Component: name, Reason: c.process.Err()}
	e.failures <- failure
	e.abandon(failure)
}

func (c *component) stop() error {
	err := c.process.Stop(grace)
	<-c.watched
	return err
}

// ComponentError says that a component ended by itself.
type ComponentError struct {
	Component string
	// Reason has the exit status and the end of the log.
	Reason error
}

func (e *ComponentError) Error() string { return fmt.Sprintf("%s: %v", e.Component, e.Reason) }

func (e *ComponentError) Unwrap() error { return e.Reason }

// withLog adds the log of the component that was waited for, unless err tells
// of one that ended, log included, or the wait was called off.
func withLog(err error, waitedFor *process.Process) error {
	if ended := (*ComponentError)(nil); errors.As(err, &ended) || errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("%w\n%s", err, waitedFor.LogTail())
}

// check returns nil when what is waited for is there, else what is missing.
type check func(context.Context) error

// until repeats ready until it succeeds. It gives up with ctx, or after a time
// in which everything becomes ready on the slowest machine.
func (e *Environment) until(ctx context.Context, what string, ready check) error {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	poll, remind := time.NewTicker(pollInterval), time.NewTicker(reminder)
	defer poll.Stop()
	defer remind.Stop()
	for {
		err := ready(limited)
		if err == nil {
			return nil
		}
		select {
		case <-limited.Done():
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			return fmt.Errorf("waited %v for %s: %w", patience, what, err)
		case <-remind.C:
			fmt.Fprintf(e.config.Progress, "  … waiting for %s: %v\n", what, err)
		case <-poll.C:
		}
	}
}
