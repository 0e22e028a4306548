// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

var _ = Describe("A delete", func() {
	DescribeTable("is 409 unless its preconditions hold",
		func(ctx SpecContext, wrong, right func(*v1beta1.Instance) metav1.Preconditions) {
			instance := Create(ctx, "web-1")
			err := InAlpha().Delete(ctx, "web-1", metav1.DeleteOptions{Preconditions: ptr.To(wrong(instance))})
			Expect(err).To(BeRefused(409, metav1.StatusReasonConflict))
			Expect(Get(ctx, "web-1").DeletionTimestamp).To(BeNil())
			// The controller makes a new version now and then.
			Eventually(func() error {
				return InAlpha().Delete(ctx, "web-1", metav1.DeleteOptions{Preconditions: ptr.To(right(Get(ctx, "web-1")))})
			}).WithContext(ctx).Should(Succeed())
		},
		Entry("on the uid",
			func(*v1beta1.Instance) metav1.Preconditions {
				return metav1.Preconditions{UID: ptr.To(types.UID("0a000000-0000-4000-8000-000000000000"))}
			},
			func(i *v1beta1.Instance) metav1.Preconditions { return metav1.Preconditions{UID: &i.UID} }),
		Entry("on the uid of what is stored, which is not the Instance's",
			func(i *v1beta1.Instance) metav1.Preconditions {
				return metav1.Preconditions{UID: &Stored(context.Background(), string(i.Status.InstanceID)).UID}
			},
			func(i *v1beta1.Instance) metav1.Preconditions { return metav1.Preconditions{UID: &i.UID} }),
		Entry("on the resourceVersion",
			func(*v1beta1.Instance) metav1.Preconditions {
				return metav1.Preconditions{ResourceVersion: ptr.To("1")}
			},
			func(i *v1beta1.Instance) metav1.Preconditions {
				return metav1.Preconditions{ResourceVersion: &i.ResourceVersion}
			}),
	)

	It("with kubectl waits until the machine is gone and its quota given back", func(ctx SpecContext) {
		Create(ctx, "web-1")
		AwaitRunning(ctx, "web-1")
		AsEditor(ctx, "delete", "inst", "web-1")
		Expect(Get(ctx, "web-1")).To(BeNil())
		Expect(Charged(ctx)).To(BeEmpty())
		Expect(Machines(ctx)).To(BeEmpty())
	})

	It("of a machine that was not made yet leaves nothing either", func(ctx SpecContext) {
		Create(ctx, "web-1")
		AsEditor(ctx, "delete", "inst", "web-1")
		Expect(Charged(ctx)).To(BeEmpty())
		Expect(Machines(ctx)).To(BeEmpty())
	})

	It("of all leaves no allocation and no server within 60 seconds", func(ctx SpecContext) {
		for _, name := range []string{"web-1", "web-2", "web-3"} {
			Create(ctx, name)
		}
		AwaitRunning(ctx, "web-3")
		AsEditor(ctx, "delete", "inst", "--all", "--wait=false")
		Eventually(func(g Gomega) {
			g.Expect(Charged(ctx)).To(BeEmpty())
			g.Expect(Machines(ctx)).To(BeEmpty())
		}).WithTimeout(60 * time.Second).Should(Succeed())
	})

	It("of a collection takes those with the label and leaves the others", func(ctx SpecContext) {
		Create(ctx, "web-1", Labelled("team", "blue"))
		Create(ctx, "web-2", Labelled("team", "blue"))
		Create(ctx, "web-3", Labelled("team", "red"))
		Expect(InAlpha().DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "team=blue"})).To(Succeed())
		Eventually(func() ([]string, error) { return names(ctx, metav1.ListOptions{}) }).Should(ConsistOf("web-3"))
		Eventually(Charged).WithContext(ctx).Should(HaveLen(1))
		Expect(Get(ctx, "web-3").DeletionTimestamp).To(BeNil())
	})

	It("leaves the Instance until a tenant's finalizer is removed as well", func(ctx SpecContext) {
		Create(ctx, "web-1", func(instance *v1beta1.Instance) { instance.Finalizers = []string{"example.com/hold"} })
		Expect(InAlpha().Delete(ctx, "web-1", metav1.DeleteOptions{})).To(Succeed())
		Eventually(func() []string { return Get(ctx, "web-1").Finalizers }).WithContext(ctx).Should(Equal([]string{"example.com/hold"}))
		Expect(Charged(ctx)).To(BeEmpty())
		Expect(Machines(ctx)).To(BeEmpty())

		_, err := InAlpha().Create(ctx, NewInstance("web-1"), metav1.CreateOptions{})
		Expect(err).To(BeRefused(409, metav1.StatusReasonAlreadyExists))
		drop := []byte(`{"metadata":{"finalizers":null}}`)
		_, err = InAlpha().Patch(ctx, "web-1", types.MergePatchType, drop, metav1.PatchOptions{DryRun: DryRun})
		Expect(err).NotTo(HaveOccurred())
		Expect(Get(ctx, "web-1")).NotTo(BeNil())
		_, err = InAlpha().Patch(ctx, "web-1", types.MergePatchType, drop, metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(Get(ctx, "web-1")).To(BeNil())
	})

	It("of a paused Instance goes through", func(ctx SpecContext) {
		Create(ctx, "web-1")
		AwaitRunning(ctx, "web-1")
		AsEditor(ctx, "patch", "inst", "web-1", "--type=merge", "-p", `{"spec":{"paused":true}}`)
		AsEditor(ctx, "delete", "inst", "web-1", "--timeout=60s")
		Expect(Machines(ctx)).To(BeEmpty())
	})

	It("of what does not exist is 404", func(ctx SpecContext) {
		err := Instances(environment.AlphaEditor, Alpha).Delete(ctx, "web-1", metav1.DeleteOptions{})
		Expect(err).To(BeRefused(404, metav1.StatusReasonNotFound))
	})
})
