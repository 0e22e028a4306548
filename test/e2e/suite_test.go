// SPDX-License-Identifier: Apache-2.0

// Package e2e tests the whole on a real control plane: what a person does with
// kubectl or a client, and what becomes of it in the simulated platform.
package e2e

import (
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/test/suite"
)

const (
	// root of the clone, from here.
	root = "../.."
	// startTimeout is for everything together on a machine that also compiles.
	startTimeout = 10 * time.Minute
)

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
	env = suite.Start(ctx, root, func(config *environment.Config) {
		config.KubeAuditPolicy, config.InstanceAuditPolicy = "testdata/audit-kube.yaml", "testdata/audit-instances.yaml"
	})
}, NodeTimeout(startTimeout))

// Every spec, or all of an ordered group together, starts with nothing and
// leaves nothing: no Instance, no server, no quota held.
var _ = BeforeEach(OncePerOrdered, func() {
	DeferCleanup(leaveNothing)
})

var _ = AfterEach(func() {
	Expect(env.Failures()).NotTo(Receive(), "a component ended")
})

var _ = ReportAfterSuite("logs", func(report Report) { suite.Logs(env, report) })
