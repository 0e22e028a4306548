// SPDX-License-Identifier: Apache-2.0

// Package install follows docs/install.md on a real control plane: it runs the
// page's commands, from the first to the last.
package install

import (
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/test/suite"
)

// root of the clone, from here.
const root = "../.."

var env *environment.Environment

func TestInstall(t *testing.T) {
	// The cluster looks again at what it could not do before only now and then.
	suite.Run(t, "Install", 3*time.Minute)
}

var _ = BeforeSuite(func(ctx SpecContext) {
	env = suite.Start(ctx, root, func(config *environment.Config) {
		config.KubeAuditPolicy = auditPolicy()
	})
}, NodeTimeout(suite.StartTimeout))

var _ = ReportAfterSuite("logs", func(report Report) { suite.Logs(env, report) })
