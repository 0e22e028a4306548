// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"fmt"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

var _ = Describe("A second create", func() {
	for _, options := range []metav1.CreateOptions{{}, {DryRun: []string{metav1.DryRunAll}}} {
		DescribeTable(fmt.Sprintf("is 409 AlreadyExists, and nothing more is charged, dry run: %v", options.DryRun != nil),
			func(ctx SpecContext, second *v1beta1.Instance) {
				Create(ctx, "web-1")
				before := Charged(ctx)
				_, err := InAlpha().Create(ctx, second, options)
				Expect(err).To(BeRefused(409, metav1.StatusReasonAlreadyExists))
				Expect(err).To(MatchError(And(ContainSubstring(`instances.compute.unikorn-cloud.org`), ContainSubstring(second.Name))))
				Expect(err).NotTo(MatchError(ContainSubstring("computeinstances")))
				Expect(Charged(ctx)).To(Equal(before))
			},
			Entry("of the same object", NewInstance("web-1")),
			Entry("on the same network and name", NewInstance("web-2", Called("web-1"))),
			Entry("of the same object name on another network", NewInstance("web-1", On(AlphaNet2))),
			Entry("of the same object name with another name on the network", NewInstance("web-1", Called("web-2"))),
		)
	}

	It("says which name is taken when it is not the object's own", func(ctx SpecContext) {
		Create(ctx, "web-1")
		for _, options := range []metav1.CreateOptions{{}, {DryRun: []string{metav1.DryRunAll}}} {
			_, err := InAlpha().Create(ctx, NewInstance("web-2", Called("web-1")), options)
			Expect(err).To(MatchError(ContainSubstring(`the name "web-1" (spec.name) is taken on network`)))
		}
	})

	It("of the same name on another network is another instance", func(ctx SpecContext) {
		Create(ctx, "web-1")
		Create(ctx, "web-2", Called("web-1"), On(AlphaNet2))
		Expect(Charged(ctx)).To(HaveLen(2))
		Eventually(Machines).WithContext(ctx).Should(Equal([]string{"web-1", "web-1"}))
	})

	DescribeTable("at the same time as the first: one of them wins, and one is charged",
		func(ctx SpecContext, contenders ...*v1beta1.Instance) {
			errs := make([]error, 3*len(contenders))
			var writers sync.WaitGroup
			for i := range errs {
				client := InAlpha()
				writers.Go(func() {
					_, errs[i] = client.Create(ctx, contenders[i%len(contenders)], metav1.CreateOptions{})
				})
			}
			writers.Wait()
			won := 0
			for _, err := range errs {
				if err == nil {
					won++
					continue
				}
				Expect(apierrors.IsAlreadyExists(err)).To(BeTrue(), "%v", err)
			}
			Expect(won).To(Equal(1))
			// What the others were charged they get back.
			Eventually(Charged).WithContext(ctx).Should(HaveLen(1))
			list, err := InAlpha().List(ctx, metav1.ListOptions{})
			Expect(err).NotTo(HaveOccurred())
			Expect(list.Items).To(HaveLen(1))
		},
		Entry("on the same network and name", NewInstance("web-1"), NewInstance("web-2", Called("web-1"))),
		Entry("of the same object name on several networks", NewInstance("web-1"), NewInstance("web-1", On(AlphaNet2))),
	)
})

var _ = Describe("The name of an Instance", func() {
	It("on the network defaults to its own", func(ctx SpecContext) {
		Expect(Create(ctx, "web-1").Spec.Name).To(Equal("web-1"))
	})

	It("cannot be changed: renaming is 422 at spec.name", func(ctx SpecContext) {
		renamed := Create(ctx, "web-1").DeepCopy()
		renamed.ResourceVersion, renamed.Spec.Name = "", "web-2"
		_, err := InAlpha().Update(ctx, renamed, metav1.UpdateOptions{})
		Expect(err).To(BeInvalidAt("spec.name"))
	})

	It("may be left out of an update, as may the organization and the project", func(ctx SpecContext) {
		created := Create(ctx, "web-1", Called("www"))
		changed := created.DeepCopy()
		changed.Spec.Name, changed.Spec.OrganizationID, changed.Spec.ProjectID = "", "", ""
		changed.Spec.Tags = []v1beta1.Tag{{Name: "env", Value: "prod"}}
		changed.ResourceVersion = ""
		updated, err := InAlpha().Update(ctx, changed, metav1.UpdateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(updated.Spec.Name).To(Equal("www"))
		Expect(updated.Spec.OrganizationID).To(Equal(created.Spec.OrganizationID))
		Expect(updated.Spec.ProjectID).To(Equal(created.Spec.ProjectID))
	})

	It("must not look like the platform's own", func(ctx SpecContext) {
		_, err := InAlpha().Create(ctx, NewInstance("fec34c20-b989-5630-b619-2587bf28a979"), metav1.CreateOptions{})
		Expect(err).To(BeInvalidAt("metadata.name"))
	})

	It("is generated from generateName", func(ctx SpecContext) {
		wanted := NewInstance("")
		wanted.GenerateName = "web-"
		first, err := InAlpha().Create(ctx, wanted, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		second, err := InAlpha().Create(ctx, wanted, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(first.Name).To(HavePrefix("web-"))
		Expect(second.Name).NotTo(Equal(first.Name))
		Expect(first.Spec.Name).To(Equal(first.Name))
	})
})

var _ = Describe("A network", func() {
	DescribeTable("that is foreign is 422 at spec.networkID",
		func(ctx SpecContext, network ids.NetworkID) {
			_, err := InAlpha().Create(ctx, NewInstance("web-1", On(network)), metav1.CreateOptions{})
			Expect(err).To(BeInvalidFor(NotFoundAt("spec.networkID")))
			Expect(Charged(ctx)).To(BeEmpty())
		},
		Entry("of another project", BetaNet),
		Entry("of another organization", GammaNet),
		Entry("that does not exist", ids.NetworkID("0d000000-0000-4000-8000-0000000000df")),
	)

	It("of another project that the person is in as well is foreign to this namespace", func(ctx SpecContext) {
		_, err := Instances("alpha-beta-editor", Alpha).Create(ctx, NewInstance("web-1", On(BetaNet)), metav1.CreateOptions{})
		Expect(err).To(BeInvalidAt("spec.networkID"))
	})

	It("cannot be changed", func(ctx SpecContext) {
		moved := Create(ctx, "web-1").DeepCopy()
		moved.ResourceVersion, moved.Spec.NetworkID = "", AlphaNet2
		_, err := InAlpha().Update(ctx, moved, metav1.UpdateOptions{})
		Expect(err).To(BeInvalidAt("spec.networkID"))
	})
})
