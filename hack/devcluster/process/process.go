// SPDX-License-Identifier: Apache-2.0

// Package process runs the programs of the development environment: each
// writes to a log of its own, is recorded in a pid file, and does not outlive
// whoever started it.
package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// Command is what to run.
type Command struct {
	// Path of the program, and its arguments without the program itself.
	Path string
	Args []string
	// LogFile receives what the program prints, after what is in it.
	LogFile string
	// PidFile holds the process id, in decimal, while the program runs.
	PidFile string
}

// Process is a program that was started.
type Process struct {
	command Command
	pid     int
	ended   chan struct{}
	err     error
}

// Start runs command. The error names the program when it cannot be run.
func Start(command Command) (*Process, error) {
	log, err := os.OpenFile(command.LogFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(command.Path, command.Args...) //nolint:noctx // Stop ends it, in the order that its dependents allow
	cmd.Stdout, cmd.Stderr = log, log
	// A group of its own keeps the terminal's Ctrl-C from reaching the program
	// before whoever started it has stopped those that depend on it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)

	p := &Process{command: command, ended: make(chan struct{})}
	started := make(chan error)
	go p.run(cmd, started)
	if err := errors.Join(<-started, log.Close()); err != nil {
		return nil, err
	}
	return p, nil
}

// run starts cmd and waits for it on one thread: the kernel takes the end of
// the thread that forked for the end of the parent.
func (p *Process) run(cmd *exec.Cmd, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		started <- err
		return
	}
	p.pid = cmd.Process.Pid
	if err := WritePID(p.command.PidFile, p.pid); err != nil {
		started <- errors.Join(err, cmd.Process.Kill(), ignoreExit(cmd.Wait()))
		return
	}
	started <- nil
	p.err = cmd.Wait()
	if err := os.Remove(p.command.PidFile); err != nil && !errors.Is(err, os.ErrNotExist) {
		p.err = errors.Join(p.err, err)
	}
	close(p.ended)
}

// WritePID writes a pid file.
func WritePID(file string, pid int) error {
	return os.WriteFile(file, []byte(strconv.Itoa(pid)+"\n"), 0o600)
}

func ignoreExit(err error) error {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil
	}
	return err
}

// PID returns the process id.
func (p *Process) PID() int { return p.pid }

// Ended is closed when the program has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Err says how the program ended, with the end of its log. It is for programs
// that should not have ended: also success is an error. It waits for the end.
func (p *Process) Err() error {
	<-p.ended
	how := "exit status 0"
	if p.err != nil {
		how = p.err.Error()
	}
	return fmt.Errorf("%s ended (%s)\n%s", filepath.Base(p.command.Path), how, p.LogTail())
}

// LogTail returns the last lines of the log under a heading that names it.
func (p *Process) LogTail() string {
	return Tail(p.command.LogFile)
}

// Signal sends a signal. A program that has ended is no error.
func (p *Process) Signal(signal syscall.Signal) error {
	select {
	case <-p.ended:
		return nil
	default:
	}
	if err := syscall.Kill(p.pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("signal %v to process %d: %w", signal, p.pid, err)
	}
	return nil
}

// Stop asks the program to end, kills it after the grace period and returns
// when it has ended. Its own children, which share its group, are killed too.
func (p *Process) Stop(grace time.Duration) error {
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
		if err := p.Signal(syscall.SIGKILL); err != nil {
			return err
		}
		<-p.ended
	}
	if err := syscall.Kill(-p.pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("kill process group %d: %w", p.pid, err)
	}
	return nil
}
