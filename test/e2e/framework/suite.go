// SPDX-License-Identifier: Apache-2.0

// Package framework is what the end-to-end suites share: an environment on a
// real control plane, the people and things of its fixture, and what becomes of
// it in the simulated platform. A suite imports it with a dot, as it does Ginkgo.
package framework

import (
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/test/suite"
)

// Root is the folder of the clone, from that of a suite.
const Root = "../../.."

// Env is the environment of the suite.
var Env *environment.Environment

// Run runs the specs of the package that calls it in an environment of its own.
func Run(t *testing.T, name string) {
	t.Helper()
	suite.Run(t, name, time.Minute)
}

var _ = BeforeSuite(func(ctx SpecContext) {
	Env = suite.Start(ctx, Root, func(config *environment.Config) {
		audit := filepath.Join(Root, "test", "e2e", "framework", "testdata")
		config.KubeAuditPolicy = filepath.Join(audit, "audit-kube.yaml")
		config.InstanceAuditPolicy = filepath.Join(audit, "audit-instances.yaml")
	})
}, NodeTimeout(suite.StartTimeout))

// Every spec, or all of an ordered group together, starts with nothing and
// leaves nothing: no Instance, no server, no quota held.
var _ = BeforeEach(OncePerOrdered, func() {
	DeferCleanup(LeaveNothing)
})

var _ = AfterEach(func() {
	Expect(Env.Failures()).NotTo(Receive(), "a component ended")
})

var _ = ReportAfterSuite("logs", func(report Report) { suite.Logs(Env, report) })
