// SPDX-License-Identifier: Apache-2.0

package e2e

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
)

var _ = Describe("A delete", func() {
	DescribeTable("is 409 unless its preconditions hold",
		func(ctx SpecContext, wrong, right func(*v1beta1.Instance) metav1.Preconditions) {
			instance := create(ctx, "web-1")
			err := inAlpha().Delete(ctx, "web-1", metav1.DeleteOptions{Preconditions: ptr.To(wrong(instance))})
			Expect(err).To(beRefused(409, metav1.StatusReasonConflict))
			Expect(get(ctx, "web-1").DeletionTimestamp).To(BeNil())
			// The controller makes a new version now and then.
			Eventually(func() error {
				return inAlpha().Delete(ctx, "web-1", metav1.DeleteOptions{Preconditions: ptr.To(right(get(ctx, "web-1")))})
			}).WithContext(ctx).Should(Succeed())
		},
		Entry("on the uid",
			func(*v1beta1.Instance) metav1.Preconditions {
				return metav1.Preconditions{UID: ptr.To(types.UID("0a000000-0000-4000-8000-000000000000"))}
			},
			func(i *v1beta1.Instance) metav1.Preconditions { return metav1.Preconditions{UID: &i.UID} }),
		Entry("on the uid of what is stored, which is not the Instance's",
			func(i *v1beta1.Instance) metav1.Preconditions {
				return metav1.Preconditions{UID: &stored(context.Background(), string(i.Status.InstanceID)).UID}
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
		create(ctx, "web-1")
		awaitRunning(ctx, "web-1")
		asEditor(ctx, "delete", "inst", "web-1")
		Expect(get(ctx, "web-1")).To(BeNil())
		Expect(charged(ctx)).To(BeEmpty())
		Expect(machines(ctx)).To(BeEmpty())
	})

	It("of a machine that was not made yet leaves nothing either", func(ctx SpecContext) {
		create(ctx, "web-1")
		asEditor(ctx, "delete", "inst", "web-1")
		Expect(charged(ctx)).To(BeEmpty())
		Expect(machines(ctx)).To(BeEmpty())
	})

	It("of all leaves no allocation and no server within 60 seconds", func(ctx SpecContext) {
		for _, name := range []string{"web-1", "web-2", "web-3"} {
			create(ctx, name)
		}
		awaitRunning(ctx, "web-3")
		asEditor(ctx, "delete", "inst", "--all", "--wait=false")
		Eventually(func(g Gomega) {
			g.Expect(charged(ctx)).To(BeEmpty())
			g.Expect(machines(ctx)).To(BeEmpty())
		}).WithTimeout(60 * time.Second).Should(Succeed())
	})

	It("of a collection takes those with the label and leaves the others", func(ctx SpecContext) {
		create(ctx, "web-1", labelled("team", "blue"))
		create(ctx, "web-2", labelled("team", "blue"))
		create(ctx, "web-3", labelled("team", "red"))
		Expect(inAlpha().DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "team=blue"})).To(Succeed())
		Eventually(func() ([]string, error) { return names(ctx, metav1.ListOptions{}) }).Should(ConsistOf("web-3"))
		Eventually(charged).WithContext(ctx).Should(HaveLen(1))
		Expect(get(ctx, "web-3").DeletionTimestamp).To(BeNil())
	})

	It("leaves the Instance until a tenant's finalizer is removed as well", func(ctx SpecContext) {
		create(ctx, "web-1", func(instance *v1beta1.Instance) { instance.Finalizers = []string{"example.com/hold"} })
		Expect(inAlpha().Delete(ctx, "web-1", metav1.DeleteOptions{})).To(Succeed())
		Eventually(func() []string { return get(ctx, "web-1").Finalizers }).WithContext(ctx).Should(Equal([]string{"example.com/hold"}))
		Expect(charged(ctx)).To(BeEmpty())
		Expect(machines(ctx)).To(BeEmpty())

		_, err := inAlpha().Create(ctx, newInstance("web-1"), metav1.CreateOptions{})
		Expect(err).To(beRefused(409, metav1.StatusReasonAlreadyExists))
		drop := []byte(`{"metadata":{"finalizers":null}}`)
		_, err = inAlpha().Patch(ctx, "web-1", types.MergePatchType, drop, metav1.PatchOptions{DryRun: dryRun})
		Expect(err).NotTo(HaveOccurred())
		Expect(get(ctx, "web-1")).NotTo(BeNil())
		_, err = inAlpha().Patch(ctx, "web-1", types.MergePatchType, drop, metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(get(ctx, "web-1")).To(BeNil())
	})

	It("of a paused Instance goes through", func(ctx SpecContext) {
		create(ctx, "web-1")
		awaitRunning(ctx, "web-1")
		asEditor(ctx, "patch", "inst", "web-1", "--type=merge", "-p", `{"spec":{"paused":true}}`)
		asEditor(ctx, "delete", "inst", "web-1", "--timeout=60s")
		Expect(machines(ctx)).To(BeEmpty())
	})

	It("of what does not exist is 404", func(ctx SpecContext) {
		err := instances(environment.AlphaEditor, alpha).Delete(ctx, "web-1", metav1.DeleteOptions{})
		Expect(err).To(beRefused(404, metav1.StatusReasonNotFound))
	})
})
