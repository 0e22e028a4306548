// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/acl"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/fault"
)

var _ = Describe("Who may edit by the cluster's RBAC and is nobody to the platform", Serial, Ordered, ContinueOnFailure, func() {
	const attached, bare = "web-1", "web-2"

	BeforeAll(func(ctx SpecContext) {
		create(ctx, attached, behind(alphaGroup), trusting(alphaAuthority))
		create(ctx, bare)
		awaitRunning(ctx, attached)
		awaitRunning(ctx, bare)
		Expect(simulator().SetRoles(ctx, environment.AlphaEditor, nil)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			Expect(simulator().SetRoles(ctx, environment.AlphaEditor, map[ids.ProjectID]acl.Role{alphaID: acl.RoleEditor})).To(Succeed())
		})
	})

	// expectNothing checks that an attempt neither took nor changed anything.
	expectNothing := func(ctx context.Context, attempt func() error, causes ...string) {
		GinkgoHelper()
		before, held := specified(ctx, alpha), committedTo(ctx)
		Expect(attempt()).To(beInvalidFor(causes...))
		Expect(specified(ctx, alpha)).To(Equal(before))
		Expect(committedTo(ctx)).To(Equal(held))
	}

	DescribeTable("makes no Instance: what it refers to is not there",
		func(ctx SpecContext, causes []string, edits ...func(*v1beta1.Instance)) {
			made := newInstance("web-3", edits...)
			for _, options := range []metav1.CreateOptions{{}, {DryRun: dryRun}} {
				expectNothing(ctx, func() error { _, err := inAlpha().Create(ctx, made, options); return err }, causes...)
			}
		},
		Entry("of a network alone", []string{notFoundAt(networkField)}),
		Entry("of all there is", []string{notFoundAt(networkField), notFoundAt(authorityField), notFoundAt(groupField)},
			behind(alphaGroup), trusting(alphaAuthority)),
	)

	It("makes none by apply either", func(ctx SpecContext) {
		wanted, _ := declared("web-3")
		expectNothing(ctx, func() error { _, err := apply(ctx, wanted, "e2e"); return err }, notFoundAt(networkField))
	})

	DescribeTable("changes none that refers to something, or is to",
		func(ctx SpecContext, name, patch string, causes ...string) {
			for _, options := range []metav1.PatchOptions{{}, {DryRun: dryRun}} {
				expectNothing(ctx, func() error {
					_, err := merge(ctx, environment.AlphaEditor, name, patch, options)
					return err
				}, causes...)
			}
		},
		Entry("which hands on what is attached", attached, `{"spec":{"tags":[{"name":"env","value":"prod"}]}}`,
			notFoundAt(groupField), notFoundAt(authorityField)),
		Entry("but for the authority that is taken off", attached, `{"spec":{"sshCertificateAuthorityID":null}}`, notFoundAt(groupField)),
		Entry("a security group", bare, `{"spec":{"networking":{"securityGroupIDs":["`+string(alphaGroup)+`"]}}}`, notFoundAt(groupField)),
		Entry("an authority", bare, `{"spec":{"sshCertificateAuthorityID":"`+string(alphaAuthority)+`"}}`, notFoundAt(authorityField)),
		Entry("another flavor", bare, `{"spec":{"flavorID":"`+string(gpu)+`"}}`, notFoundAt(flavorField)),
	)

	It("may put the whole of one back as it is, and label it", func(ctx SpecContext) {
		same := get(ctx, attached)
		_, err := inAlpha().Update(ctx, same, metav1.UpdateOptions{})
		Expect(err).NotTo(HaveOccurred())
		same.Spec.Paused = true
		expectNothing(ctx, func() error { _, err := inAlpha().Update(ctx, same, metav1.UpdateOptions{}); return err },
			notFoundAt(groupField), notFoundAt(authorityField))
		_, err = merge(ctx, environment.AlphaEditor, attached, `{"metadata":{"labels":{"team":"blue"}}}`)
		Expect(err).NotTo(HaveOccurred())
	})
})

// committedTo is all the quota that is held, by object name and kind.
func committedTo(ctx context.Context) map[string]map[string]int {
	GinkgoHelper()
	held, err := simulator().Allocations(ctx)
	Expect(err).NotTo(HaveOccurred())
	found := map[string]map[string]int{}
	for _, allocation := range held {
		kinds := map[string]int{}
		for _, part := range allocation.Spec.Allocations {
			kinds[part.Kind] = part.Committed
		}
		found[allocation.Spec.ID] = kinds
	}
	return found
}

var _ = Describe("While region does not show somebody the network", Serial, Ordered, ContinueOnFailure, func() {
	BeforeAll(func(ctx SpecContext) {
		create(ctx, "web-1")
		awaitRunning(ctx, "web-1")
	})

	DescribeTable("nothing is made on it, and nothing on it is operated",
		func(ctx SpecContext, status int) {
			withFaults(ctx, fault.Fault{Service: "region", Method: http.MethodGet, Path: "/networks/", Status: ptr.To(status)})
			forgetRequests(ctx)
			Expect(createIn(ctx, environment.AlphaEditor, alpha, newInstance("web-2"))).To(beInvalidFor(notFoundAt(networkField)))
			for _, dry := range [][]string{nil, dryRun} {
				for subresource, err := range attempts(ctx, inAlpha(), "web-1", dry...) {
					Expect(err).To(beRefused(403, metav1.StatusReasonForbidden), subresource)
					Expect(err).To(MatchError(ContainSubstring("the platform does not let you use the network of the instance")), subresource)
				}
			}
			for _, effect := range []string{"/softreboot", "/consolesessions", "/snapshot", "/sshkey"} {
				Expect(requestsOf(ctx, effect)).To(BeEmpty(), effect)
			}
			Expect(charged(ctx)).To(HaveLen(1))
		},
		Entry("and says so", http.StatusForbidden),
		Entry("and says there is none", http.StatusNotFound),
	)
})
