// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/utils/ptr"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

func configMaps() corev1client.ConfigMapInterface {
	GinkgoHelper()
	return ClientOf(environment.AlphaEditor).CoreV1().ConfigMaps(Alpha)
}

// configMap makes a ConfigMap that is gone after the spec.
func configMap(ctx context.Context, name string, owners ...metav1.OwnerReference) *corev1.ConfigMap {
	GinkgoHelper()
	created, err := configMaps().Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: owners},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		release(ctx, name)
		err := configMaps().Delete(ctx, name, metav1.DeleteOptions{})
		Expect(err == nil || apierrors.IsNotFound(err)).To(BeTrue(), "%v", err)
	})
	return created
}

// hold keeps a ConfigMap in existence until it is released.
func hold(ctx context.Context, name string) {
	GinkgoHelper()
	_, err := configMaps().Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"finalizers":["example.com/hold"]}}`), metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}

func release(ctx context.Context, name string) {
	GinkgoHelper()
	_, err := configMaps().Patch(ctx, name, types.JSONPatchType, []byte(`[{"op":"add","path":"/metadata/finalizers","value":[]}]`), metav1.PatchOptions{})
	Expect(err == nil || apierrors.IsNotFound(err)).To(BeTrue(), "%v", err)
}

// found returns nil for a ConfigMap that does not exist.
func found(ctx context.Context, name string) *corev1.ConfigMap {
	GinkgoHelper()
	object, err := configMaps().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	Expect(err).NotTo(HaveOccurred())
	return object
}

func ownedByInstance(instance *v1beta1.Instance) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: "compute.unikorn-cloud.org/v1beta1", Kind: "Instance", Name: instance.Name, UID: instance.UID,
		BlockOwnerDeletion: ptr.To(true),
	}
}

func ownedByConfigMap(owner *corev1.ConfigMap) func(*v1beta1.Instance) {
	return func(instance *v1beta1.Instance) {
		instance.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID, BlockOwnerDeletion: ptr.To(true),
		}}
	}
}

func deleting(policy metav1.DeletionPropagation) metav1.DeleteOptions {
	return metav1.DeleteOptions{PropagationPolicy: &policy}
}

var _ = Describe("The garbage collector", func() {
	It("lets what an Instance owns live as long as the Instance, and collects it after", func(ctx SpecContext) {
		instance := Create(ctx, "web-1")
		configMap(ctx, "owned", ownedByInstance(instance))
		// The collector looks at one after the other: once it has collected one
		// whose owner never was, it has looked at the one before.
		orphan := ownedByInstance(instance)
		orphan.Name, orphan.UID = "never", "0a000000-0000-4000-8000-000000000000"
		for _, name := range []string{"stray-1", "stray-2", "stray-3"} {
			configMap(ctx, name, orphan)
			Eventually(found).WithContext(ctx).WithArguments(name).Should(BeNil())
		}
		Expect(found(ctx, "owned").DeletionTimestamp).To(BeNil())

		AsEditor(ctx, "delete", "inst", "web-1")
		Eventually(found).WithContext(ctx).WithArguments("owned").Should(BeNil())
	})

	It("collects an Instance whose owner is deleted", func(ctx SpecContext) {
		owner := configMap(ctx, "owner")
		Create(ctx, "web-1", ownedByConfigMap(owner))
		Expect(configMaps().Delete(ctx, "owner", metav1.DeleteOptions{})).To(Succeed())
		Eventually(Get).WithContext(ctx).WithArguments("web-1").Should(BeNil())
		Expect(Machines(ctx)).To(BeEmpty())
		Expect(Charged(ctx)).To(BeEmpty())
	})

	It("deletes the dependents first when an Instance is deleted in the foreground", func(ctx SpecContext) {
		configMap(ctx, "dependent", ownedByInstance(Create(ctx, "web-1")))
		hold(ctx, "dependent")
		Expect(InAlpha().Delete(ctx, "web-1", deleting(metav1.DeletePropagationForeground))).To(Succeed())
		Expect(Get(ctx, "web-1").Finalizers).To(ContainElement(metav1.FinalizerDeleteDependents))
		Eventually(func() *metav1.Time { return found(ctx, "dependent").DeletionTimestamp }).Should(Not(BeNil()))
		// The machine does not wait for what depends on its Instance.
		Eventually(func() []string { return Get(ctx, "web-1").Finalizers }).Should(Equal([]string{metav1.FinalizerDeleteDependents}))
		Expect(found(ctx, "dependent")).NotTo(BeNil())

		release(ctx, "dependent")
		Eventually(Get).WithContext(ctx).WithArguments("web-1").Should(BeNil())
		Expect(found(ctx, "dependent")).To(BeNil())
	})

	It("leaves the dependents of an Instance that is deleted as an orphaning owner", func(ctx SpecContext) {
		configMap(ctx, "dependent", ownedByInstance(Create(ctx, "web-1")))
		Expect(InAlpha().Delete(ctx, "web-1", deleting(metav1.DeletePropagationOrphan))).To(Succeed())
		Eventually(Get).WithContext(ctx).WithArguments("web-1").Should(BeNil())
		Expect(found(ctx, "dependent").OwnerReferences).To(BeEmpty())
	})

	It("deletes an Instance before its owner when that is deleted in the foreground", func(ctx SpecContext) {
		owner := configMap(ctx, "owner")
		Create(ctx, "web-1", ownedByConfigMap(owner), func(instance *v1beta1.Instance) {
			instance.Finalizers = []string{"example.com/hold"}
		})
		Expect(configMaps().Delete(ctx, "owner", deleting(metav1.DeletePropagationForeground))).To(Succeed())
		Eventually(func() []string { return Get(ctx, "web-1").Finalizers }).Should(Equal([]string{"example.com/hold"}))
		Expect(found(ctx, "owner")).NotTo(BeNil())
		AsEditor(ctx, "patch", "inst", "web-1", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
		Eventually(found).WithContext(ctx).WithArguments("owner").Should(BeNil())
		Expect(Get(ctx, "web-1")).To(BeNil())
	})

	It("leaves an Instance whose owner is deleted as an orphaning owner", func(ctx SpecContext) {
		owner := configMap(ctx, "owner")
		Create(ctx, "web-1", ownedByConfigMap(owner))
		Expect(configMaps().Delete(ctx, "owner", deleting(metav1.DeletePropagationOrphan))).To(Succeed())
		Eventually(found).WithContext(ctx).WithArguments("owner").Should(BeNil())
		left := Get(ctx, "web-1")
		Expect(left.OwnerReferences).To(BeEmpty())
		Expect(left.DeletionTimestamp).To(BeNil())
	})
})
