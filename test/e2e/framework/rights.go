// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// AccountPrefix begins the names of our service accounts.
const AccountPrefix = "system:serviceaccount:unikorn-compute:"

// Audited are the events that an API server has recorded.
func Audited(component string) []auditv1.Event {
	GinkgoHelper()
	file, err := os.Open(Env.Audit(component))
	Expect(err).NotTo(HaveOccurred())
	defer func() { Expect(file.Close()).To(Succeed()) }()
	var events []auditv1.Event
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			// What comes after the last end of a line is still being written.
			return events
		}
		var event auditv1.Event
		Expect(json.Unmarshal(line, &event)).To(Succeed())
		events = append(events, event)
	}
}

// overreach is what an event shows of a process that does more than its service
// account may, or does it as somebody else.
func overreach(event auditv1.Event) string {
	ours := strings.HasPrefix(event.User.Username, AccountPrefix)
	program, _, _ := strings.Cut(event.UserAgent, "/")
	switch {
	case ours && event.Annotations["authorization.k8s.io/decision"] == "forbid":
		return event.User.Username + " may not " + event.Verb + " " + event.RequestURI
	case !ours && (program == "instance-apiserver" || program == "instance-controller"):
		return program + " came as " + event.User.Username
	default:
		return ""
	}
}

// Whatever the specs were about: the processes had all rights they used, by the
// manifests that ship. What region and identity refuse is in the logs as well,
// but does not name a service account.
var _ = ReportAfterSuite("rights of the processes", func(Report) {
	if Env == nil {
		return
	}
	seen, faults := map[string]int{}, []string{}
	for _, event := range Audited("kube-apiserver") {
		seen[event.User.Username]++
		if fault := overreach(event); fault != "" {
			faults = append(faults, fault)
		}
	}
	logs, err := Env.Logs()
	Expect(err).NotTo(HaveOccurred())
	for _, log := range logs {
		content, err := os.ReadFile(log)
		Expect(err).NotTo(HaveOccurred())
		for line := range strings.Lines(string(content)) {
			if strings.Contains(line, "forbidden") && strings.Contains(line, AccountPrefix) {
				faults = append(faults, filepath.Base(log)+": "+line)
			}
		}
	}
	Expect(faults).To(BeEmpty())
	Expect(seen).To(And(HaveKey(AccountPrefix+"instance-apiserver"), HaveKey(AccountPrefix+"instance-controller")), "nothing was recorded")
})
