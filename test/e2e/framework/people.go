// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
)

// ServiceAccount makes a service account that may edit namespace alpha, until
// the spec ends.
func ServiceAccount(ctx context.Context, name string) *rest.Config {
	GinkgoHelper()
	accounts := ClientOf(environment.Admin).CoreV1().ServiceAccounts(Alpha)
	_, err := accounts.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) { Expect(accounts.Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed()) })
	token, err := accounts.CreateToken(ctx, name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	config := rest.AnonymousClientConfig(ConfigOf(environment.Admin))
	config.BearerToken = token.Status.Token
	GrantEdit(ctx, rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: Alpha, Name: name}, config)
	return config
}

// GrantEdit lets somebody edit namespace alpha until the spec ends.
func GrantEdit(ctx context.Context, subject rbacv1.Subject, as *rest.Config) {
	GinkgoHelper()
	bindings := ClientOf(environment.Admin).RbacV1().RoleBindings(Alpha)
	binding, err := bindings.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"},
		Subjects:   []rbacv1.Subject{subject},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		Expect(bindings.Delete(ctx, binding.Name, metav1.DeleteOptions{})).To(Succeed())
	})
	Eventually(func(g Gomega) {
		review, err := ClientFor(as).AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
				Group: "compute.unikorn-cloud.org", Resource: "instances", Namespace: Alpha, Verb: "create",
			}},
		}, metav1.CreateOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(review.Status.Allowed).To(BeTrue())
	}).WithContext(ctx).Should(Succeed())
}
