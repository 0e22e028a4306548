// SPDX-License-Identifier: Apache-2.0

package operations

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

var _ = Describe("Rights", func() {
	DescribeTable("of the people of the fixture",
		func(ctx SpecContext, person, verb, resource, subresource, namespace string, allowed bool) {
			Expect(May(ctx, person, verb, resource, subresource, namespace)).To(Equal(allowed))
		},
		Entry("editors write", environment.AlphaEditor, "create", "instances", "", "alpha", true),
		Entry("editors delete all", environment.AlphaEditor, "deletecollection", "instances", "", "alpha", true),
		Entry("editors read", environment.AlphaEditor, "watch", "instances", "", "alpha", true),
		Entry("editors operate", environment.AlphaEditor, "create", "instances", "power", "alpha", true),
		Entry("editors take keys", environment.AlphaEditor, "create", "instances", "sshkey", "alpha", true),
		Entry("editors do not write status", environment.AlphaEditor, "update", "instances", "status", "alpha", false),
		Entry("editors stay in their project", environment.AlphaEditor, "get", "instances", "", "beta", false),
		Entry("editors do not see what is stored", environment.AlphaEditor, "get", "computeinstances", "", "alpha", false),
		Entry("viewers read", environment.AlphaViewer, "list", "instances", "", "alpha", true),
		Entry("viewers read logs", environment.AlphaViewer, "get", "instances", "log", "alpha", true),
		Entry("viewers do not write", environment.AlphaViewer, "patch", "instances", "", "alpha", false),
		Entry("viewers do not operate", environment.AlphaViewer, "create", "instances", "power", "alpha", false),
		Entry("viewers take no keys", environment.AlphaViewer, "create", "instances", "sshkey", "alpha", false),
		Entry("of two projects, one", environment.AlphaBetaEditor, "create", "instances", "", "beta", true),
		Entry("of two organizations, the other", environment.AlphaGammaEditor, "create", "instances", "", "gamma", true),
		Entry("of two organizations, no third project", environment.AlphaGammaEditor, "create", "instances", "", "beta", false),
	)
})

var _ = Describe("Labels that bind a namespace to a project", func() {
	const project = "unikorn-cloud.org/project"

	// somebody may manage namespaces but is no administrator.
	somebody := func() kubernetes.Interface {
		config := ConfigOf(environment.Admin)
		config.Impersonate = rest.ImpersonationConfig{UserName: "namespace-manager"}
		return ClientFor(config)
	}

	BeforeEach(func(ctx SpecContext) {
		admin := ClientOf(environment.Admin).RbacV1()
		role, err := admin.ClusterRoles().Create(ctx, &rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "namespace-manager-"},
			Rules: []rbacv1.PolicyRule{{
				APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"get", "create", "patch", "delete"},
			}},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) {
			Expect(admin.ClusterRoles().Delete(ctx, role.Name, metav1.DeleteOptions{})).To(Succeed())
		})
		bind(ctx, role.Name)
		Eventually(func(g Gomega) {
			_, err := somebody().CoreV1().Namespaces().Get(ctx, "alpha", metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
		}).Should(Succeed())
	})

	patch := func(ctx context.Context, namespace, labels string) error {
		_, err := somebody().CoreV1().Namespaces().Patch(ctx, namespace, types.MergePatchType,
			[]byte(`{"metadata":{"labels":`+labels+`}}`), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}

	It("are not for those who merely manage namespaces", func(ctx SpecContext) {
		_, err := somebody().CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			GenerateName: "stolen-", Labels: map[string]string{project: "0a000000-0000-4000-8000-0000000000a1"},
		}}, metav1.CreateOptions{})
		Expect(apierrors.IsForbidden(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(ContainSubstring("bind-project")))

		Expect(apierrors.IsForbidden(patch(ctx, "beta", `{"`+project+`":null}`))).To(BeTrue())
		Expect(apierrors.IsForbidden(patch(ctx, "beta", `{"`+project+`":"x"}`))).To(BeTrue())
		Expect(patch(ctx, "beta", `{"team":"x"}`)).To(Succeed())
	})

	It("are for those who hold the role that ships for it", func(ctx SpecContext) {
		bind(ctx, "unikorn-compute:project-binder")
		Eventually(func() error { return patch(ctx, "beta", `{"`+project+`":"x"}`) }).Should(Succeed())
	})
})

// bind gives the namespace manager a cluster role until the spec ends.
func bind(ctx context.Context, role string) {
	GinkgoHelper()
	bindings := ClientOf(environment.Admin).RbacV1().ClusterRoleBindings()
	binding, err := bindings.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "namespace-manager-"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "namespace-manager"}},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		Expect(bindings.Delete(ctx, binding.Name, metav1.DeleteOptions{})).To(Succeed())
	})
}
