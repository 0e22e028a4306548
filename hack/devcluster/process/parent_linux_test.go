// SPDX-License-Identifier: Apache-2.0

package process

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// childOf is set in the process that TestProgramEndsWithItsParent starts.
const childOf = "PROCESS_TEST_FOLDER"

func TestProgramEndsWithItsParent(t *testing.T) {
	if os.Getenv(childOf) != "" {
		beParent(t)
		return
	}
	parent := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProgramEndsWithItsParent$")
	parent.Env = append(os.Environ(), childOf+"="+t.TempDir())
	output, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := parent.Wait(); err == nil {
		t.Error("the parent ended by itself")
	}
	awaitGone(t, child)
}

// beParent starts a program, prints its process id and waits to be killed.
func beParent(t *testing.T) {
	folder := os.Getenv(childOf)
	p, err := Start(Command{
		Path: "/bin/sleep", Args: []string{"1000"},
		LogFile: filepath.Join(folder, "log"), PidFile: filepath.Join(folder, "pid"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintln(os.Stdout, p.PID()); err != nil {
		t.Fatal(err)
	}
	<-p.Ended()
}
