// SPDX-License-Identifier: Apache-2.0

package operations

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

var _ = Describe("The processes", func() {
	DescribeTable("are known to the cluster as what they are in one, and not above its RBAC",
		func(ctx SpecContext, component, user string, groups ...string) {
			review, err := ClientOf(component).AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
			Expect(review.Status.UserInfo.Username).To(Equal(user))
			Expect(review.Status.UserInfo.Groups).To(ConsistOf(groups))
		},
		Entry("the API server", "instance-apiserver", AccountPrefix+"instance-apiserver",
			"system:serviceaccounts", "system:serviceaccounts:unikorn-compute", "system:authenticated"),
		Entry("the controller", "instance-controller", AccountPrefix+"instance-controller",
			"system:serviceaccounts", "system:serviceaccounts:unikorn-compute", "system:authenticated"),
		Entry("the cluster's own controllers", "kube-controller-manager", "system:kube-controller-manager", "system:authenticated"),
	)
})
