// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os/exec"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("The tour of the README", func() {
	It("can be walked, and prints what the README says", func(ctx SpecContext) {
		// As "make up" leaves it.
		asEditor(ctx, "apply", "-f", example("demo.yaml"))

		tour := exec.CommandContext(ctx, filepath.Join(root, "hack", "readme-tour.sh"), string(env.Folder))
		// Its own discovery, not that of whoever runs the tests.
		tour.Env = append(tour.Environ(), "KUBECACHEDIR="+GinkgoT().TempDir())
		output, err := tour.CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(output))
	})
})
