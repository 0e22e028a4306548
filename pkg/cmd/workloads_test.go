// SPDX-License-Identifier: Apache-2.0

// Package cmd_test holds the Deployments against the commands that they run:
// the development environment runs the commands without them.
package cmd_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	cliflag "k8s.io/component-base/cli/flag"
	"sigs.k8s.io/yaml"

	"github.com/unikorn-cloud/instance-apiserver/pkg/cmd/controller"
	"github.com/unikorn-cloud/instance-apiserver/pkg/cmd/server"
)

const (
	workloads = "../../artifacts/base/workloads"
	// installation is what an installation adds.
	installation = "../../artifacts/examples/installation/installation.env"
)

// workload is a command that a Deployment of the same name runs.
type workload struct {
	flags    func() cliflag.NamedFlagSets
	validate func(*pflag.FlagSet) error
}

func commands() map[string]workload {
	apiserver, instances := server.NewOptions(), controller.NewOptions()
	return map[string]workload{
		"instance-apiserver":  {apiserver.Flags, apiserver.Validate},
		"instance-controller": {instances.Flags, func(*pflag.FlagSet) error { return instances.Validate() }},
	}
}

func TestDeploymentsStartTheirCommands(t *testing.T) {
	settings := readSettings(t)
	for name, command := range commands() {
		t.Run(name, func(t *testing.T) {
			deployment := read[appsv1.Deployment](t, name+".yaml", "Deployment")
			pod := deployment.Spec.Template.Spec
			container := pod.Containers[0]
			if container.Name != name {
				t.Errorf("container %s", container.Name)
			}

			flags := pflag.NewFlagSet(name, pflag.ContinueOnError)
			for _, set := range command.flags().FlagSets {
				flags.AddFlagSet(set)
			}
			if err := flags.Parse(expanded(t, container, settings)); err != nil {
				t.Fatal(err)
			}
			if err := command.validate(flags); err != nil {
				t.Error(err)
			}
			expectFilesMounted(t, flags, pod)
			for key, value := range settings {
				if flag := flags.Lookup(key); flag != nil && strings.Trim(flag.Value.String(), "[]") != value {
					t.Errorf("--%s=%s, the installation says %q", key, flag.Value, value)
				}
			}
		})
	}
}

// read returns the one object of the kind in a file of several.
func read[T any](t *testing.T, file, kind string) *T {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(workloads, file))
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range bytes.Split(content, []byte("\n---\n")) {
		object := struct {
			Kind string `json:"kind"`
		}{}
		if err := yaml.Unmarshal(document, &object); err != nil {
			t.Fatal(err)
		}
		if object.Kind != kind {
			continue
		}
		found := new(T)
		if err := yaml.UnmarshalStrict(document, found); err != nil {
			t.Fatal(err)
		}
		return found
	}
	t.Fatalf("no %s in %s", kind, file)
	return nil
}

var variable = regexp.MustCompile(`\$\(([^)]*)\)`)

// readSettings returns the keys of the ConfigMap that the installation completes.
func readSettings(t *testing.T) map[string]string {
	t.Helper()
	var kustomization struct {
		ConfigMapGenerator []struct {
			Literals []string `json:"literals"`
		} `json:"configMapGenerator"`
	}
	content, err := os.ReadFile(filepath.Join(workloads, "kustomization.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(content, &kustomization); err != nil {
		t.Fatal(err)
	}
	added, err := os.ReadFile(installation)
	if err != nil {
		t.Fatal(err)
	}
	settings := map[string]string{}
	for _, line := range append(kustomization.ConfigMapGenerator[0].Literals, strings.Split(string(added), "\n")...) {
		if key, value, found := strings.Cut(line, "="); found && !strings.HasPrefix(line, "#") {
			settings[key] = value
		}
	}
	return settings
}

// expanded are the arguments as the kubelet passes them.
func expanded(t *testing.T, container corev1.Container, settings map[string]string) []string {
	t.Helper()
	environment := map[string]string{}
	for _, entry := range container.Env {
		key := entry.ValueFrom.ConfigMapKeyRef
		value, found := settings[key.Key]
		if key.Name != "installation" || !found {
			t.Errorf("%s is of key %s of %s, which is not there", entry.Name, key.Key, key.Name)
		}
		environment[entry.Name] = value
	}
	var args []string
	for _, arg := range container.Args {
		args = append(args, variable.ReplaceAllStringFunc(arg, func(reference string) string {
			name := variable.FindStringSubmatch(reference)[1]
			value, found := environment[name]
			if !found {
				t.Errorf("%s: no variable %s", arg, name)
			}
			return value
		}))
	}
	return args
}

func expectFilesMounted(t *testing.T, flags *pflag.FlagSet, pod corev1.PodSpec) {
	t.Helper()
	volumes := map[string]bool{}
	for _, volume := range pod.Volumes {
		volumes[volume.Name] = true
	}
	var folders []string
	for _, mount := range pod.Containers[0].VolumeMounts {
		if !volumes[mount.Name] {
			t.Errorf("no volume %s", mount.Name)
		}
		folders = append(folders, mount.MountPath)
	}
	flags.Visit(func(flag *pflag.Flag) {
		if !strings.HasSuffix(flag.Name, "-file") {
			return
		}
		for _, folder := range folders {
			if filepath.Dir(flag.Value.String()) == folder {
				return
			}
		}
		t.Errorf("--%s=%s is in no mounted folder", flag.Name, flag.Value)
	})
}
