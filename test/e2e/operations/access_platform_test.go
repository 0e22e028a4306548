// SPDX-License-Identifier: Apache-2.0

package operations

import (
	"context"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/acl"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/fault"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

// notYourNetwork is said to who may by the cluster's RBAC, and not by the platform.
const notYourNetwork = "the platform does not let you use the network of the instance"

var _ = Describe("Who may edit by the cluster's RBAC and is nobody to the platform", Serial, Ordered, ContinueOnFailure, func() {
	const attached, bare = "web-1", "web-2"

	BeforeAll(func(ctx SpecContext) {
		Create(ctx, attached, Behind(AlphaGroup), Trusting(AlphaAuthority))
		Create(ctx, bare)
		AwaitRunning(ctx, attached)
		AwaitRunning(ctx, bare)
		Expect(Simulator().SetRoles(ctx, environment.AlphaEditor, nil)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			Expect(Simulator().SetRoles(ctx, environment.AlphaEditor, map[ids.ProjectID]acl.Role{alphaID: acl.RoleEditor})).To(Succeed())
		})
	})

	// expectNothing checks that an attempt neither took nor changed anything.
	expectNothing := func(ctx context.Context, attempt func() error, refused types.GomegaMatcher) {
		GinkgoHelper()
		before, held := specified(ctx, Alpha), committedTo(ctx)
		Expect(attempt()).To(refused)
		Expect(specified(ctx, Alpha)).To(Equal(before))
		Expect(committedTo(ctx)).To(Equal(held))
	}

	expectRefusal := func(ctx context.Context, attempt func() error) {
		GinkgoHelper()
		expectNothing(ctx, attempt, And(BeRefused(403, metav1.StatusReasonForbidden), MatchError(ContainSubstring(notYourNetwork))))
	}

	DescribeTable("makes no Instance: what it refers to is not there",
		func(ctx SpecContext, causes []string, edits ...func(*v1beta1.Instance)) {
			made := NewInstance("web-3", edits...)
			for _, options := range []metav1.CreateOptions{{}, {DryRun: DryRun}} {
				expectNothing(ctx, func() error { _, err := InAlpha().Create(ctx, made, options); return err }, BeInvalidFor(causes...))
			}
		},
		Entry("of a network alone", []string{NotFoundAt(NetworkField)}),
		Entry("of all there is", []string{NotFoundAt(NetworkField), NotFoundAt(AuthorityField), NotFoundAt(GroupField)},
			Behind(AlphaGroup), Trusting(AlphaAuthority)),
	)

	It("makes none by apply either", func(ctx SpecContext) {
		wanted, _ := Declared("web-3")
		expectNothing(ctx, func() error { _, err := Apply(ctx, wanted, "e2e"); return err }, BeInvalidFor(NotFoundAt(NetworkField)))
	})

	DescribeTable("changes the spec of none",
		func(ctx SpecContext, name, patch string) {
			for _, options := range []metav1.PatchOptions{{}, {DryRun: DryRun}} {
				expectRefusal(ctx, func() error {
					_, err := Merge(ctx, environment.AlphaEditor, name, patch, options)
					return err
				})
			}
		},
		Entry("with things attached", attached, `{"spec":{"tags":[{"name":"env","value":"prod"}]}}`),
		Entry("by taking the authority off", attached, `{"spec":{"sshCertificateAuthorityID":null}}`),
		Entry("by a security group", bare, `{"spec":{"networking":{"securityGroupIDs":["`+string(AlphaGroup)+`"]}}}`),
		Entry("by an authority", bare, `{"spec":{"sshCertificateAuthorityID":"`+string(AlphaAuthority)+`"}}`),
		Entry("by another flavor", bare, `{"spec":{"flavorID":"`+string(Gpu)+`"}}`),
		Entry("by another image, which everybody sees", bare, `{"spec":{"imageID":"`+string(Ubuntu2)+`"}}`),
		Entry("by tags", bare, `{"spec":{"tags":[{"name":"env","value":"prod"}]}}`),
		Entry("by a public address", bare, `{"spec":{"networking":{"publicIP":true}}}`),
		Entry("by a pause", bare, `{"spec":{"paused":true}}`),
	)

	It("may put the whole of one back as it is, and label it", func(ctx SpecContext) {
		same := Get(ctx, attached)
		_, err := InAlpha().Update(ctx, same, metav1.UpdateOptions{})
		Expect(err).NotTo(HaveOccurred())
		same.Spec.Paused = true
		expectRefusal(ctx, func() error { _, err := InAlpha().Update(ctx, same, metav1.UpdateOptions{}); return err })
		_, err = Merge(ctx, environment.AlphaEditor, attached, `{"metadata":{"labels":{"team":"blue"}}}`)
		Expect(err).NotTo(HaveOccurred())
	})
})

// committedTo is all the quota that is held, by object name and kind.
func committedTo(ctx context.Context) map[string]map[string]int {
	GinkgoHelper()
	held, err := Simulator().Allocations(ctx)
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
		Create(ctx, "web-1")
		AwaitRunning(ctx, "web-1")
	})

	DescribeTable("nothing is made on it, and nothing on it is operated",
		func(ctx SpecContext, status int) {
			WithFaults(ctx, fault.Fault{Service: "region", Method: http.MethodGet, Path: "/networks/", Status: ptr.To(status)})
			ForgetRequests(ctx)
			Expect(CreateIn(ctx, environment.AlphaEditor, Alpha, NewInstance("web-2"))).To(BeInvalidFor(NotFoundAt(NetworkField)))
			for _, dry := range [][]string{nil, DryRun} {
				for subresource, err := range attempts(ctx, InAlpha(), "web-1", dry...) {
					Expect(err).To(BeRefused(403, metav1.StatusReasonForbidden), subresource)
					Expect(err).To(MatchError(ContainSubstring(notYourNetwork)), subresource)
				}
			}
			for _, effect := range []string{"/softreboot", "/consolesessions", "/snapshot", "/sshkey"} {
				Expect(requestsOf(ctx, effect)).To(BeEmpty(), effect)
			}
			Expect(Charged(ctx)).To(HaveLen(1))
		},
		Entry("and says so", http.StatusForbidden),
		Entry("and says there is none", http.StatusNotFound),
	)
})
