// SPDX-License-Identifier: Apache-2.0

// Package install follows docs/install.md on a real control plane: it runs the
// page's commands, from the first to the last.
package install

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

var env *environment.Environment

func TestInstall(t *testing.T) {
	RegisterFailHandler(Fail)
	// The cluster looks again at what it could not do before only now and then.
	SetDefaultEventuallyTimeout(3 * time.Minute)
	SetDefaultEventuallyPollingInterval(100 * time.Millisecond)
	EnforceDefaultTimeoutsWhenUsingContexts()
	RunSpecs(t, "Install")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	env = suite.Start(ctx, root, func(config *environment.Config) {
		config.KubeAuditPolicy = auditPolicy()
	})
}, NodeTimeout(startTimeout))

var _ = ReportAfterSuite("logs", func(report Report) { suite.Logs(env, report) })
