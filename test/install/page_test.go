// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
)

// commands are the sh blocks of a section of the page.
func commands(section string) []string {
	GinkgoHelper()
	content, err := os.ReadFile(filepath.Join(root, "docs", "install.md"))
	Expect(err).NotTo(HaveOccurred())
	_, after, found := strings.Cut(string(content), "\n## "+section+"\n")
	Expect(found).To(BeTrue(), "section %s", section)
	text, _, _ := strings.Cut(after, "\n## ")
	var blocks []string
	for _, match := range block.FindAllStringSubmatch(text, -1) {
		blocks = append(blocks, match[1])
	}
	Expect(blocks).NotTo(BeEmpty(), "commands of section %s", section)
	return blocks
}

// block is a fenced one, of an item of a list too.
var block = regexp.MustCompile("(?ms)^ *```sh\n(.*?)^ *```$")

// rollout is what no Deployment gets to without nodes.
var rollout = regexp.MustCompile(`(?m)^.* rollout status .*$`)

// follow runs commands of the page in the operator's folder, as administrator,
// and returns what they print.
func (o operator) follow(ctx context.Context, block string) string {
	GinkgoHelper()
	By(block)
	command := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", rollout.ReplaceAllString(block, ""))
	command.Dir = o.folder
	command.Env = append(os.Environ(),
		"KUBECONFIG="+env.Kubeconfig(environment.Admin),
		"KUBECACHEDIR="+filepath.Join(o.folder, "cache"),
		"PATH="+filepath.Join(o.clone, "bin")+":"+os.Getenv("PATH"))
	output, err := command.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "%s\n%s", block, output)
	return string(output)
}
