// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
)

// ConditionOf is the condition of a type, empty if there is none.
func ConditionOf(instance *v1beta1.Instance, kind string) metav1.Condition {
	if instance != nil {
		for _, condition := range instance.Status.Conditions {
			if condition.Type == kind {
				return condition
			}
		}
	}
	return metav1.Condition{}
}

// AwaitRunning waits until an Instance of namespace alpha is shown running.
func AwaitRunning(ctx context.Context, name string) *v1beta1.Instance {
	GinkgoHelper()
	var found *v1beta1.Instance
	Eventually(func(g Gomega) {
		found = Get(ctx, name)
		g.Expect(found).NotTo(BeNil())
		g.Expect(found.Status.PowerState).To(Equal(v1beta1.PowerStateRunning))
	}).WithContext(ctx).Should(Succeed())
	return found
}

// AwaitReason waits until the current generation of an Instance is not
// Available for the reason.
func AwaitReason(ctx context.Context, name, reason string) *v1beta1.Instance {
	GinkgoHelper()
	var found *v1beta1.Instance
	Eventually(func(g Gomega) {
		found = Get(ctx, name)
		g.Expect(found).NotTo(BeNil())
		g.Expect(ConditionOf(found, v1beta1.ConditionAvailable)).To(And(
			HaveField("Status", metav1.ConditionFalse), HaveField("Reason", reason), HaveField("ObservedGeneration", found.Generation)))
	}).WithContext(ctx).Should(Succeed())
	return found
}

// AwaitInPlace waits until the machine of the current generation runs.
func AwaitInPlace(ctx context.Context, name string) *v1beta1.Instance {
	GinkgoHelper()
	var found *v1beta1.Instance
	Eventually(func(g Gomega) {
		found = Get(ctx, name)
		g.Expect(found).NotTo(BeNil())
		g.Expect(ConditionOf(found, v1beta1.ConditionReady)).To(And(
			HaveField("Status", metav1.ConditionTrue), HaveField("ObservedGeneration", found.Generation)))
		g.Expect(found.Status.PowerState).To(Equal(v1beta1.PowerStateRunning))
	}).WithContext(ctx).Should(Succeed())
	return found
}

// AwaitAlphaOpen waits until namespace alpha takes Instances again.
func AwaitAlphaOpen(ctx SpecContext) {
	Eventually(func() error {
		_, err := Instances(environment.AlphaEditor, Alpha).Create(ctx, NewInstance("probe"), metav1.CreateOptions{DryRun: DryRun})
		return err
	}).WithContext(ctx).Should(Succeed())
}

// NamespaceGone is to be waited for.
func NamespaceGone(ctx context.Context, name string) func(Gomega) {
	client := ClientOf(environment.Admin)
	return func(g Gomega) {
		namespace, err := client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
		g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%v", namespace.Status.Conditions)
	}
}

var namespaces = []string{Alpha, Beta, Gamma}

// LeaveNothing deletes what a spec has made and waits until it is gone, and
// everything that was held for it.
func LeaveNothing(ctx SpecContext) {
	for _, namespace := range namespaces {
		Expect(Instances(environment.Admin, namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})).To(Succeed())
	}
	Eventually(func() ([]v1beta1.Instance, error) {
		left, err := Instances(environment.Admin, metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
		return left.Items, err
	}).WithContext(ctx).Should(BeEmpty())
	Eventually(Machines).WithContext(ctx).Should(BeEmpty())
	Eventually(Charged).WithContext(ctx).Should(BeEmpty())
}
