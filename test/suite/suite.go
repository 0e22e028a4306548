// SPDX-License-Identifier: Apache-2.0

// Package suite gives a Ginkgo suite an environment of its own.
package suite

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/process"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/settings"
)

// StartTimeout is for everything together on a machine that also compiles.
const StartTimeout = 10 * time.Minute

// Run runs the specs of the package that calls it. patience is for what comes
// about eventually: a loaded machine is slow, not wrong.
func Run(t *testing.T, name string, patience time.Duration) {
	t.Helper()
	gomega.RegisterFailHandler(ginkgo.Fail)
	gomega.SetDefaultEventuallyTimeout(patience)
	gomega.SetDefaultEventuallyPollingInterval(100 * time.Millisecond)
	// What is given a context would otherwise be waited for without end.
	gomega.EnforceDefaultTimeoutsWhenUsingContexts()
	ginkgo.RunSpecs(t, name)
}

// quick is a simulator whose machines live faster than a person can watch.
func quick() *settings.Settings {
	s := settings.Default()
	s.BootMillis, s.StopMillis, s.DeleteMillis, s.RebuildMillis, s.SnapshotMillis = 500, 300, 300, 500, 500
	return &s
}

// Start returns an environment that runs what is built from the clone at root,
// and that ends with the suite. It is for BeforeSuite.
func Start(ctx context.Context, root string, edits ...func(*environment.Config)) *environment.Environment {
	ginkgo.GinkgoHelper()
	build(ctx, root)
	folder, err := os.MkdirTemp("", "instance-e2e-")
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	config := environment.InClone(root, folder)
	config.Progress = ginkgo.GinkgoWriter
	config.Simulator = quick()
	for _, edit := range edits {
		edit(&config)
	}
	env, err := environment.Start(ctx, config)
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	ginkgo.DeferCleanup(func() { gomega.Expect(env.Stop()).To(gomega.Succeed()) })
	return env
}

// build makes the programs that are tested: older ones would be tested instead.
// Suites that run at the same time take turns, so that none starts a program
// which another is just writing.
func build(ctx context.Context, root string) {
	ginkgo.GinkgoHelper()
	turn, err := os.Open(filepath.Join(root, "Makefile"))
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { gomega.Expect(turn.Close()).To(gomega.Succeed()) }()
	gomega.Expect(syscall.Flock(int(turn.Fd()), syscall.LOCK_EX)).To(gomega.Succeed())
	command := exec.CommandContext(ctx, "make", "--no-print-directory", "-C", root, "build")
	command.Stdout, command.Stderr = ginkgo.GinkgoWriter, ginkgo.GinkgoWriter
	gomega.Expect(command.Run()).To(gomega.Succeed())
}

// Logs removes the logs of an environment that has ended, or shows their ends
// and says where they are, if the suite failed. It is for ReportAfterSuite.
func Logs(env *environment.Environment, report ginkgo.Report) {
	ginkgo.GinkgoHelper()
	if env == nil {
		return
	}
	if report.SuiteSucceeded {
		gomega.Expect(os.RemoveAll(string(env.Folder))).To(gomega.Succeed())
		return
	}
	logs, err := env.Logs()
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	// What GinkgoWriter gets here is not shown.
	for _, log := range logs {
		fmt.Fprintln(os.Stdout, process.Tail(log))
	}
	fmt.Fprintln(os.Stdout, "all logs are in", filepath.Dir(env.SupervisorLog()))
}
