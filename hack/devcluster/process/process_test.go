// SPDX-License-Identifier: Apache-2.0

package process

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience is more than anything here takes on any machine.
const patience = time.Minute

func command(t *testing.T, script string) Command {
	t.Helper()
	folder := t.TempDir()
	return Command{
		Path:    "/bin/sh",
		Args:    []string{"-c", script, folder},
		LogFile: filepath.Join(folder, "log"),
		PidFile: filepath.Join(folder, "pid"),
	}
}

func start(t *testing.T, c Command) *Process {
	t.Helper()
	p, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(0); err != nil {
			t.Error(err)
		}
	})
	return p
}

func TestProgramThatEndsSaysHowWithItsLog(t *testing.T) {
	p := start(t, command(t, "echo starting; echo port taken >&2; exit 3"))
	for _, want := range []string{"exit status 3", "starting\nport taken", "log"} {
		if !strings.Contains(p.Err().Error(), want) {
			t.Errorf("%q is not in: %v", want, p.Err())
		}
	}
	if _, err := os.Stat(p.command.PidFile); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("pid file after the end: %v", err)
	}
}

func TestProgramThatCannotRunIsNamed(t *testing.T) {
	c := command(t, "")
	c.Path = "/nonexistent/program"
	if _, err := Start(c); err == nil || !strings.Contains(err.Error(), c.Path) {
		t.Errorf("error %v", err)
	}
}

func TestStop(t *testing.T) {
	for name, script := range map[string]string{
		"ends by itself":     `trap 'exit 0' TERM; echo $$; while :; do sleep 0.01; done`,
		"ignores the signal": `trap '' TERM; echo $$; while :; do sleep 0.01; done`,
		"has a child":        `sleep 1000 & echo $!; wait`,
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, command(t, script))
			pid := awaitPID(t, p.command.LogFile)
			if err := p.Stop(200 * time.Millisecond); err != nil {
				t.Fatal(err)
			}
			select {
			case <-p.Ended():
			default:
				t.Error("Stop returned before the end")
			}
			awaitGone(t, pid)
		})
	}
}

// awaitPID returns the process id that a program writes to its log.
func awaitPID(t *testing.T, file string) int {
	t.Helper()
	pid := 0
	await(t, func() bool {
		content, err := os.ReadFile(file)
		if err != nil || !bytes.HasSuffix(content, []byte("\n")) {
			return false
		}
		pid, err = strconv.Atoi(string(bytes.TrimSpace(content)))
		return err == nil
	})
	return pid
}

// awaitGone returns when a process runs no longer. Whoever inherited it may
// take its time to reap it.
func awaitGone(t *testing.T, pid int) {
	t.Helper()
	await(t, func() bool {
		line, err := commandLine(pid)
		return err == nil && len(line) == 0
	})
}

func await(t *testing.T, condition func() bool) {
	t.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for !condition() {
		select {
		case <-ctx.Done():
			t.Fatal("waited in vain")
		case <-ticker.C:
		}
	}
}

func TestSweepKillsOnlyWhatCarriesTheMark(t *testing.T) {
	ours, other := start(t, command(t, "echo ready; sleep 1000")), start(t, command(t, "echo ready; sleep 1000"))
	folder := filepath.Dir(ours.command.PidFile)
	for name, content := range map[string]string{
		"ours.pid":  strconv.Itoa(ours.PID()),
		"other.pid": strconv.Itoa(other.PID()),
		"gone.pid":  "4194304",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	killed, err := Sweep(t.Context(), filepath.Join(folder, "*.pid"), folder)
	if err != nil || len(killed) != 1 || killed[0] != "ours.pid" {
		t.Errorf("killed %v, error %v", killed, err)
	}
	<-ours.Ended()
	if err := syscall.Kill(other.PID(), 0); err != nil {
		t.Errorf("the other process: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(folder, "*.pid")); len(left) > 0 {
		t.Errorf("files left: %v", left)
	}
}

func TestSweepRefusesWhatIsNoProcessID(t *testing.T) {
	folder := t.TempDir()
	for _, content := range []string{"", "-1", "1", "x"} {
		file := filepath.Join(folder, "a.pid")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Sweep(t.Context(), file, ""); err == nil {
			t.Errorf("%q: no error", content)
		}
	}
}
