// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
)

// restoreTenants makes what the fixture's manifest holds and a spec deleted.
func restoreTenants(ctx SpecContext) {
	kubectl(ctx, environment.Admin, "apply", "--server-side", "-f", filepath.Join(root, "artifacts", "overlays", "dev", "tenants.yaml"))
	Eventually(may).WithContext(ctx).WithArguments(environment.BetaEditor, "create", "instances", "", beta).Should(BeTrue())
}

func namespaceGone(ctx context.Context, name string) func(Gomega) {
	client := clientOf(environment.Admin)
	return func(g Gomega) {
		namespace, err := client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
		g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%v", namespace.Status.Conditions)
	}
}

var _ = Describe("Deleting a namespace", Serial, func() {
	It("with an Instance in it completes, and leaves no server and no quota held", func(ctx SpecContext) {
		DeferCleanup(restoreTenants)
		_, err := instances(environment.BetaEditor, beta).Create(ctx, newInstance("web-1", on(betaNet)), metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(machines).WithContext(ctx).Should(HaveLen(1))
		create(ctx, "web-2")

		Expect(clientOf(environment.Admin).CoreV1().Namespaces().Delete(ctx, beta, metav1.DeleteOptions{})).To(Succeed())
		Eventually(namespaceGone(ctx, beta)).Should(Succeed())
		Eventually(machines).WithContext(ctx).Should(Equal([]string{"web-2"}))
		Expect(charged(ctx)).To(HaveLen(1))
	})
})

var _ = Describe("A namespace without a project", func() {
	It("takes no Instance, and says why", func(ctx SpecContext) {
		namespaces := clientOf(environment.Admin).CoreV1().Namespaces()
		created, err := namespaces.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "unbound-"}}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) {
			Expect(namespaces.Delete(ctx, created.Name, metav1.DeleteOptions{})).To(Succeed())
			Eventually(namespaceGone(ctx, created.Name)).Should(Succeed())
		})
		_, err = instances(environment.Admin, created.Name).Create(ctx, newInstance("web-1"), metav1.CreateOptions{})
		Expect(err).To(beRefused(403, metav1.StatusReasonForbidden))
		Expect(err).To(MatchError(ContainSubstring("namespace %q", created.Name)))
	})
})
