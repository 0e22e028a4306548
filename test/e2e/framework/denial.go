// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
)

// Denial is what the cluster's admission is to deny.
type Denial struct {
	// Resource of our group, and its version. Only creates are denied.
	Version, Resource string
	// Unless, in CEL, is what a request may still be.
	Unless string
	// Message is the reason given.
	Message string
	// Only objects with these labels are meant; all if nil.
	Only map[string]string
}

// Deny denies it until the spec ends. It takes the cluster a moment to begin.
func Deny(ctx context.Context, name string, denial Denial) {
	GinkgoHelper()
	admission := ClientOf(environment.Admin).AdmissionregistrationV1()
	_, err := admission.ValidatingAdmissionPolicies().Create(ctx, &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{
				ObjectSelector: &metav1.LabelSelector{MatchLabels: denial.Only},
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
					Rule: admissionregistrationv1.Rule{
						APIGroups: []string{"compute.unikorn-cloud.org"}, APIVersions: []string{denial.Version}, Resources: []string{denial.Resource},
					},
				}}},
			},
			Validations: []admissionregistrationv1.Validation{{Expression: denial.Unless, Message: denial.Message}},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		Expect(admission.ValidatingAdmissionPolicies().Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
	})
	_, err = admission.ValidatingAdmissionPolicyBindings().Create(ctx, &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		Expect(admission.ValidatingAdmissionPolicyBindings().Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
	})
}
