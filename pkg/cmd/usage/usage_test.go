// SPDX-License-Identifier: Apache-2.0

package usage_test

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/unikorn-cloud/instance-apiserver/pkg/cmd/controller"
	"github.com/unikorn-cloud/instance-apiserver/pkg/cmd/server"
	"github.com/unikorn-cloud/instance-apiserver/pkg/cmd/simulator"
)

func commands() []*cobra.Command {
	return []*cobra.Command{server.NewCommand(), controller.NewCommand(), simulator.NewCommand()}
}

func output(t *testing.T, cmd *cobra.Command, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetArgs(args)
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The linker sets the version of a build, not that of a test.
func TestVersionIsOfTheProgram(t *testing.T) {
	for _, cmd := range commands() {
		if said, want := output(t, cmd, "--version"), cmd.Name()+" unknown\n"; said != want {
			t.Errorf("%q, want %q", said, want)
		}
	}
}

// A name that the linker does not find it passes over in silence.
func TestMakefileSetsTheVersion(t *testing.T) {
	makefile, err := os.ReadFile("../../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("usage.go")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(makefile), "/pkg/cmd/usage.version=$(version)") || !strings.Contains(string(source), "\nvar version = ") {
		t.Error("the Makefile sets another variable than there is")
	}
}

func TestEveryFlagIsInTheHelpOnce(t *testing.T) {
	listed := regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-zA-Z-]+)`)
	for _, cmd := range commands() {
		seen := map[string]int{}
		for _, flag := range listed.FindAllStringSubmatch(output(t, cmd, "--help"), -1) {
			// klog has names with underscores, which are other names of the same.
			seen[strings.ReplaceAll(flag[1], "_", "-")]++
		}
		for _, name := range []string{"help", "version", "v", "vmodule", "log-flush-frequency"} {
			if seen[name] == 0 {
				t.Errorf("%s: --%s is not listed", cmd.Name(), name)
			}
		}
		for name, times := range seen {
			if times > 1 {
				t.Errorf("%s: --%s is listed %d times", cmd.Name(), name, times)
			}
		}
	}
}
