// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// accountPrefix begins the names of our service accounts.
const accountPrefix = "system:serviceaccount:unikorn-compute:"

var _ = Describe("The processes", func() {
	DescribeTable("are known to the cluster as what they are in one, and not above its RBAC",
		func(ctx SpecContext, component, user string, groups ...string) {
			review, err := clientOf(component).AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
			Expect(review.Status.UserInfo.Username).To(Equal(user))
			Expect(review.Status.UserInfo.Groups).To(ConsistOf(groups))
		},
		Entry("the API server", "instance-apiserver", accountPrefix+"instance-apiserver",
			"system:serviceaccounts", "system:serviceaccounts:unikorn-compute", "system:authenticated"),
		Entry("the controller", "instance-controller", accountPrefix+"instance-controller",
			"system:serviceaccounts", "system:serviceaccounts:unikorn-compute", "system:authenticated"),
		Entry("the cluster's own controllers", "kube-controller-manager", "system:kube-controller-manager", "system:authenticated"),
	)
})

// audited are the events that an API server has recorded.
func audited(component string) []auditv1.Event {
	GinkgoHelper()
	file, err := os.Open(env.Audit(component))
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
	ours := strings.HasPrefix(event.User.Username, accountPrefix)
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
	if env == nil {
		return
	}
	seen, faults := map[string]int{}, []string{}
	for _, event := range audited("kube-apiserver") {
		seen[event.User.Username]++
		if fault := overreach(event); fault != "" {
			faults = append(faults, fault)
		}
	}
	logs, err := env.Logs()
	Expect(err).NotTo(HaveOccurred())
	for _, log := range logs {
		content, err := os.ReadFile(log)
		Expect(err).NotTo(HaveOccurred())
		for line := range strings.Lines(string(content)) {
			if strings.Contains(line, "forbidden") && strings.Contains(line, accountPrefix) {
				faults = append(faults, filepath.Base(log)+": "+line)
			}
		}
	}
	Expect(faults).To(BeEmpty())
	Expect(seen).To(And(HaveKey(accountPrefix+"instance-apiserver"), HaveKey(accountPrefix+"instance-controller")), "nothing was recorded")
})
