// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Folder is where an environment keeps its files, .run in a clone:
//
//	<person>.kubeconfig  credentials of the people of the fixture, and of Admin
//	simulator.url        URL of the simulator's admin API
//	addresses.json       where every component listens
//	logs/<component>.log
//	audit/<component>.log  what API servers that audit have recorded
//	pids/<component>.pid
//	pki/                 certificates and keys
//	lock                 held, and filled with its process id, by the owner
//
// Reading does not need the process that started the environment.
type Folder string

// Kubeconfig returns the path of a person's kubeconfig.
func (f Folder) Kubeconfig(person string) string {
	return f.path(person + ".kubeconfig")
}

// ClientConfig returns the configuration of a client that acts as person.
func (f Folder) ClientConfig(person string) (*rest.Config, error) {
	return clientcmd.BuildConfigFromFlags("", f.Kubeconfig(person))
}

// SimulatorURL returns the URL of the simulator's admin API, without a slash
// at its end.
func (f Folder) SimulatorURL() (string, error) {
	content, err := os.ReadFile(f.path("simulator.url"))
	return string(bytes.TrimSpace(content)), err
}

// Log returns the path of a component's log.
func (f Folder) Log(component string) string {
	return f.path("logs", component+".log")
}

// Logs returns the paths of all logs.
func (f Folder) Logs() ([]string, error) {
	return filepath.Glob(f.Log("*"))
}

// SupervisorLog returns the path of the log of the process that owns an
// environment in the background.
func (f Folder) SupervisorLog() string {
	return f.Log(supervisor)
}

// Audit returns the path of what an API server that audits has recorded, a JSON
// event a line.
func (f Folder) Audit(component string) string {
	return f.path("audit", component+".log")
}

func (f Folder) pidFile(component string) string {
	return f.path("pids", component+".pid")
}

func (f Folder) pki(file string) string {
	return f.path("pki", file)
}

func (f Folder) path(elements ...string) string {
	return filepath.Join(append([]string{string(f)}, elements...)...)
}

// absolute resolves symbolic links too: the folder stands on command lines, by
// which Down recognises processes.
func absolute(folder string) (Folder, error) {
	path, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	return Folder(path), nil
}

// prepare makes an empty layout. The supervisor's log stays: it is being
// written.
func (f Folder) prepare() error {
	logs, err := f.Logs()
	if err != nil {
		return err
	}
	for _, log := range logs {
		if log == f.SupervisorLog() {
			continue
		}
		if err := os.Remove(log); err != nil {
			return err
		}
	}
	if err := errors.Join(f.clear(), os.RemoveAll(f.path("audit"))); err != nil {
		return err
	}
	for _, name := range []string{"logs", "pids", "pki"} {
		if err := os.MkdirAll(f.path(name), 0o700); err != nil {
			return err
		}
	}
	return nil
}

// clear removes what only makes sense while the environment runs. It removes
// nothing but what an environment makes: somebody chose the folder.
func (f Folder) clear() error {
	names := []string{"pki", "pids", "etcd", "install", "cache", "simulator.url", "addresses.json"}
	for _, name := range append(people(), Admin, server, controller, controllerManager) {
		names = append(names, name+".kubeconfig")
	}
	var failures []error
	for _, name := range names {
		failures = append(failures, os.RemoveAll(f.path(name)))
	}
	return errors.Join(failures...)
}

// relative shortens a path for people who stand in the folder's parent.
func (f Folder) relative() string {
	working, err := os.Getwd()
	if err != nil {
		return string(f)
	}
	if path, err := filepath.Rel(working, string(f)); err == nil && !strings.HasPrefix(path, "..") {
		return path
	}
	return string(f)
}

// String names the folder in messages.
func (f Folder) String() string {
	return f.relative()
}

var _ fmt.Stringer = Folder("")
