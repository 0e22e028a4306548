// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"os/exec"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

var _ = Describe("The tour of the README", func() {
	It("can be walked, and prints what the README says", func(ctx SpecContext) {
		// As "make up" leaves it.
		AsEditor(ctx, "apply", "-f", Example("demo.yaml"))

		tour := exec.CommandContext(ctx, filepath.Join(Root, "hack", "readme-tour.sh"), string(Env.Folder))
		// Its own discovery, not that of whoever runs the tests.
		tour.Env = append(tour.Environ(), "KUBECACHEDIR="+GinkgoT().TempDir())
		output, err := tour.CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(output))
	})
})
