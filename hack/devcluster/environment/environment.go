// SPDX-License-Identifier: Apache-2.0

// Package environment runs everything that development and tests need on this
// machine: a Kubernetes control plane, the simulator of the platform, two
// replicas of the instance API server and the instance controller, with the
// manifests of artifacts/overlays/dev installed. Nothing listens on anything
// but 127.0.0.1.
package environment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/process"
)

// Names of the components: of their logs, their pid files and their entries in
// addresses.json. The replicas of the API server are server-0 and server-1.
const (
	etcd              = "etcd"
	kubeAPIServer     = "kube-apiserver"
	controllerManager = "kube-controller-manager"
	simulator         = "simulator"
	server            = "instance-apiserver"
	controller        = "instance-controller"
	// supervisor is the process that owns the environment.
	supervisor = "devcluster"
)

// Environment is one that runs.
type Environment struct {
	Folder
	config Config
	lock   *os.File
	ports  ports
	issued credentials

	// components in the order of their start.
	components []*component
	balancing  *balancing
	stopping   atomic.Bool
	failures   chan error
	abandon    context.CancelCauseFunc
}

// Start brings an environment up and returns when all of it is ready. What it
// started it stops again when that fails or ctx ends; afterwards ctx has no
// meaning. The error of a component that ended has the end of its log.
//
// It is a *RunningError if the folder has an environment already.
func Start(ctx context.Context, config Config) (*Environment, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	folder, err := absolute(config.Folder)
	if err != nil {
		return nil, err
	}
	lock, err := folder.lock()
	if err != nil {
		return nil, err
	}
	ctx, abandon := context.WithCancelCause(ctx)
	defer abandon(nil)
	e := &Environment{
		Folder:   folder,
		config:   config,
		lock:     lock,
		failures: make(chan error, len(portNames)),
		abandon:  abandon,
	}
	if err := e.start(ctx); err != nil {
		return nil, errors.Join(err, e.Stop())
	}
	return e, nil
}

// step is a part of the start, named by what is ready after it.
type step struct {
	name string
	run  func(context.Context) error
}

func (e *Environment) start(ctx context.Context) error {
	for _, step := range []step{
		{"certificates and kubeconfigs", e.prepareFolder},
		{etcd, e.startEtcd},
		{kubeAPIServer, e.startKubeAPIServer},
		{simulator, e.startSimulator},
		{"manifests and fixture", e.install},
		{"instance-apiserver, two replicas", e.startServers},
		{"the API in the cluster", e.awaitAPI},
		{controllerManager, e.startControllerManager},
		{controller, e.startController},
		{"rights of the people", e.awaitRights},
	} {
		started := time.Now()
		err := step.run(ctx)
		if ended := (*ComponentError)(nil); errors.As(err, &ended) {
			return err
		}
		if err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Fprintf(e.config.Progress, "  %-34s %5.1f s\n", step.name, time.Since(started).Seconds())
	}
	return nil
}

// prepareFolder also ends what an earlier environment left running: it no
// longer owns the folder.
func (e *Environment) prepareFolder(ctx context.Context) error {
	if _, err := e.sweep(ctx); err != nil {
		return err
	}
	if err := e.prepare(); err != nil {
		return err
	}
	if err := process.WritePID(e.pidFile(supervisor), os.Getpid()); err != nil {
		return err
	}
	reserved, err := reservePorts(portNames...)
	if err != nil {
		return err
	}
	e.ports = reserved
	if err := e.ports.write(e.path("addresses.json")); err != nil {
		return err
	}
	e.issued, err = issue(e.Folder)
	if err != nil {
		return err
	}
	return e.writeKubeconfigs()
}

// Failures delivers an error for each component that ended though nobody
// stopped it.
func (e *Environment) Failures() <-chan error {
	return e.failures
}

// Stop ends all components, those first that depend on others, and removes all
// files but the logs.
func (e *Environment) Stop() error {
	e.stopping.Store(true)
	var failures []error
	for len(e.components) > 0 {
		last := len(e.components) - 1
		failures = append(failures, e.components[last].stop())
		e.components = e.components[:last]
	}
	failures = append(failures,
		e.balancing.stop(),
		e.ports.release(portNames...),
		e.clear(),
		e.lock.Close())
	return errors.Join(failures...)
}
