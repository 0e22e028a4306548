// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func execute(t *testing.T, arguments ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	command := newCommand()
	command.SetOut(&out)
	command.SetErr(&out)
	command.SetArgs(arguments)
	err := command.ExecuteContext(t.Context())
	return out.String(), err
}

func TestHelpNamesWhatAPersonMayDo(t *testing.T) {
	help, err := execute(t, "--help")
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"run ", "up ", "down ", "--folder"} {
		if !strings.Contains(help, command) {
			t.Errorf("%q is not in the help", command)
		}
	}
	if strings.Contains(help, "supervise") {
		t.Error("the help names the supervisor")
	}
}

func TestDownWhereNothingRuns(t *testing.T) {
	out, err := execute(t, "down", "--folder", filepath.Join(t.TempDir(), "run"))
	if err != nil || out != "not running\n" {
		t.Errorf("%q, %v", out, err)
	}
}

func TestUnknownArgumentsAreRefused(t *testing.T) {
	for _, arguments := range [][]string{{"start"}, {"down", "now"}, {"run", "--port", "1"}} {
		if _, err := execute(t, arguments...); err == nil {
			t.Errorf("%v: no error", arguments)
		}
	}
}

func TestNotUp(t *testing.T) {
	const outcome = "the environment did not come up"
	for want, script := range map[string]string{
		outcome:                      "exit 1",
		outcome + ": signal: killed": "kill -9 $$",
	} {
		err := notUp(exec.CommandContext(t.Context(), "sh", "-c", script).Run())
		if errors.Is(err, errTold) != (want == outcome) {
			t.Errorf("%s: %v, told of or not", script, err)
		}
		if err.Error() != want {
			t.Errorf("%s: %q, want %q", script, err, want)
		}
	}
}

func TestPowerState(t *testing.T) {
	for want, object := range map[string]map[string]any{
		"Running":               {"status": map[string]any{"powerState": "Running"}},
		"(no power state yet)":  {"status": map[string]any{}},
		"(no power state yet) ": {},
	} {
		got, err := powerState(&unstructured.Unstructured{Object: object})
		if err != nil || got != strings.TrimSpace(want) {
			t.Errorf("%v: %q, %v", object, got, err)
		}
	}
}
