// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/settings"
)

// Config says where an environment runs and what from.
type Config struct {
	// Folder keeps its files, see Folder. It is made if it is missing; what an
	// earlier environment left there is replaced.
	Folder string
	// Binaries is the folder of the programs, bin in a clone.
	Binaries string
	// Artifacts is the folder of the manifests, artifacts in a clone.
	Artifacts string
	// Simulator is how fast and how the simulated services behave, nil for
	// their own defaults.
	Simulator *settings.Settings
	// KubeAuditPolicy and InstanceAuditPolicy are the files of the audit policies
	// of kube-apiserver and of the instance API server, "" for no audit.
	KubeAuditPolicy, InstanceAuditPolicy string
	// Progress receives a line for each thing that is ready.
	Progress io.Writer
}

// InClone returns the configuration of an environment in folder that runs what
// is built in, and installs what lies in, the clone at root.
func InClone(root, folder string) Config {
	return Config{
		Folder:    folder,
		Binaries:  filepath.Join(root, "bin"),
		Artifacts: filepath.Join(root, "artifacts"),
		Progress:  io.Discard,
	}
}

// validate finds what was not built before anything is started.
func (c Config) validate() error {
	for _, name := range []string{
		"etcd", "kube-apiserver", "kube-controller-manager", "kubectl",
		"unikorn-simulator", "instance-apiserver", "instance-controller",
	} {
		if _, err := os.Stat(c.binary(name)); err != nil {
			return fmt.Errorf("%w: \"make control-plane build\" makes it", err)
		}
	}
	return nil
}

func (c Config) binary(name string) string {
	return filepath.Join(c.Binaries, name)
}
