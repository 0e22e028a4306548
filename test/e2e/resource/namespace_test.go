// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

// restoreTenants makes what the fixture's manifest holds and a spec deleted.
func restoreTenants(ctx SpecContext) {
	Kubectl(ctx, environment.Admin, "apply", "--server-side", "-f", filepath.Join(Root, "artifacts", "overlays", "dev", "tenants.yaml"))
	Eventually(May).WithContext(ctx).WithArguments(environment.BetaEditor, "create", "instances", "", Beta).Should(BeTrue())
}

var _ = Describe("Deleting a namespace", Serial, func() {
	It("with an Instance in it completes, and leaves no server and no quota held", func(ctx SpecContext) {
		DeferCleanup(restoreTenants)
		_, err := Instances(environment.BetaEditor, Beta).Create(ctx, NewInstance("web-1", On(BetaNet)), metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(Machines).WithContext(ctx).Should(HaveLen(1))
		Create(ctx, "web-2")

		Expect(ClientOf(environment.Admin).CoreV1().Namespaces().Delete(ctx, Beta, metav1.DeleteOptions{})).To(Succeed())
		Eventually(NamespaceGone(ctx, Beta)).Should(Succeed())
		Eventually(Machines).WithContext(ctx).Should(Equal([]string{"web-2"}))
		Expect(Charged(ctx)).To(HaveLen(1))
	})
})

var _ = Describe("A namespace without a project", func() {
	It("takes no Instance, and says why", func(ctx SpecContext) {
		namespaces := ClientOf(environment.Admin).CoreV1().Namespaces()
		created, err := namespaces.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "unbound-"}}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) {
			Expect(namespaces.Delete(ctx, created.Name, metav1.DeleteOptions{})).To(Succeed())
			Eventually(NamespaceGone(ctx, created.Name)).Should(Succeed())
		})
		_, err = Instances(environment.Admin, created.Name).Create(ctx, NewInstance("web-1"), metav1.CreateOptions{})
		Expect(err).To(BeRefused(403, metav1.StatusReasonForbidden))
		Expect(err).To(MatchError(ContainSubstring("namespace %q", created.Name)))
	})
})
