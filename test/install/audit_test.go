// SPDX-License-Identifier: Apache-2.0

package install

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// rest is what an audit policy may say of everything else: the most there is.
const rest = `
  - level: RequestResponse
`

// auditPolicy is a file with the rules that the page gives, before the rest.
func auditPolicy() string {
	GinkgoHelper()
	rules, err := os.ReadFile(filepath.Join(root, "artifacts", "audit", "policy.yaml"))
	Expect(err).NotTo(HaveOccurred())
	file := filepath.Join(GinkgoT().TempDir(), "policy.yaml")
	Expect(os.WriteFile(file, append(rules, rest...), 0o600)).To(Succeed())
	return file
}

// recorded are the events of kube-apiserver's audit that match.
func recorded(match func(*auditv1.Event) bool) []*auditv1.Event {
	GinkgoHelper()
	file, err := os.Open(env.Audit("kube-apiserver"))
	Expect(err).NotTo(HaveOccurred())
	defer func() { Expect(file.Close()).To(Succeed()) }()
	var events []*auditv1.Event
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return events
		}
		Expect(err).NotTo(HaveOccurred())
		event := new(auditv1.Event)
		Expect(json.Unmarshal(line, event)).To(Succeed())
		if match(event) {
			events = append(events, event)
		}
	}
}

// of says whether an event is a create of the resource, or of its subresource,
// in the group of instances.
func of(resource, subresource string) func(*auditv1.Event) bool {
	return func(event *auditv1.Event) bool {
		ref := event.ObjectRef
		return ref != nil && ref.APIGroup == "compute.unikorn-cloud.org" && ref.Resource == resource &&
			ref.Subresource == subresource && event.Verb == "create" && event.Stage == auditv1.StageResponseComplete
	}
}
