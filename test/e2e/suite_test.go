// SPDX-License-Identifier: Apache-2.0

// Package e2e tests the whole on a real control plane: what a person does with
// kubectl or a client, and what becomes of it in the simulated platform.
package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/process"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/settings"
)

const (
	// root of the clone, from here.
	root = "../.."
	// startTimeout is for everything together on a machine that also compiles.
	startTimeout = 10 * time.Minute
)

// quick is a simulator whose machines live faster than a person can watch.
var quick = func() settings.Settings {
	s := settings.Default()
	s.BootMillis, s.StopMillis, s.DeleteMillis, s.RebuildMillis, s.SnapshotMillis = 500, 300, 300, 500, 500
	return s
}()

// env is the environment of the suite.
var env *environment.Environment

func TestEndToEnd(t *testing.T) {
	RegisterFailHandler(Fail)
	// A loaded machine is slow, not wrong.
	SetDefaultEventuallyTimeout(time.Minute)
	SetDefaultEventuallyPollingInterval(100 * time.Millisecond)
	// What is given a context would otherwise be waited for without end.
	EnforceDefaultTimeoutsWhenUsingContexts()
	RunSpecs(t, "End to end")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	// A program that is older than what is tested would be tested instead.
	build := exec.CommandContext(ctx, "make", "--no-print-directory", "-C", root, "build")
	build.Stdout, build.Stderr = GinkgoWriter, GinkgoWriter
	Expect(build.Run()).To(Succeed())

	folder, err := os.MkdirTemp("", "instance-e2e-")
	Expect(err).NotTo(HaveOccurred())
	config := environment.InClone(root, folder)
	config.Progress = GinkgoWriter
	config.Simulator = &quick
	config.KubeAuditPolicy, config.InstanceAuditPolicy = "testdata/audit-kube.yaml", "testdata/audit-instances.yaml"
	env, err = environment.Start(ctx, config)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(env.Stop()).To(Succeed()) })
}, NodeTimeout(startTimeout))

// Every spec, or all of an ordered group together, starts with nothing and
// leaves nothing: no Instance, no server, no quota held.
var _ = BeforeEach(OncePerOrdered, func() {
	DeferCleanup(leaveNothing)
})

var _ = AfterEach(func() {
	Expect(env.Failures()).NotTo(Receive(), "a component ended")
})

// The logs of a suite that failed stay, and their ends are shown.
var _ = ReportAfterSuite("logs", func(report Report) {
	if env == nil {
		return
	}
	if report.SuiteSucceeded {
		Expect(os.RemoveAll(string(env.Folder))).To(Succeed())
		return
	}
	logs, err := env.Logs()
	Expect(err).NotTo(HaveOccurred())
	// What GinkgoWriter gets here is not shown.
	for _, log := range logs {
		fmt.Println(process.Tail(log))
	}
	fmt.Println("all logs are in", filepath.Dir(env.SupervisorLog()))
})
