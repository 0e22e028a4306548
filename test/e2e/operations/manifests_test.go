// SPDX-License-Identifier: Apache-2.0

package operations

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

// built are the documents of a kustomization, but for those of kinds that this
// cluster does not have.
func built(ctx context.Context, folder string) []string {
	GinkgoHelper()
	output := Kubectl(ctx, environment.Admin, "kustomize", filepath.Join(Root, "artifacts", folder))
	return slices.DeleteFunc(strings.Split(output, "\n---\n"), func(document string) bool {
		return strings.Contains(document, "apiVersion: cert-manager.io/")
	})
}

var _ = Describe("The manifests for a cluster", func() {
	DescribeTable("are taken by the cluster, warning of nothing",
		func(ctx SpecContext, folder string) {
			file := filepath.Join(GinkgoT().TempDir(), "manifests.yaml")
			Expect(os.WriteFile(file, []byte(strings.Join(built(ctx, folder), "\n---\n")), 0o600)).To(Succeed())
			output := Kubectl(ctx, environment.Admin, "apply", "--server-side", "--force-conflicts", "--dry-run=server",
				"--validate=strict", "--warnings-as-errors", "-f", file)
			Expect(output).To(ContainSubstring("deployment.apps/instance-apiserver serverside-applied"))
			Expect(output).To(ContainSubstring("deployment.apps/instance-controller serverside-applied"))
		},
		Entry("without certificates", "base"),
		Entry("with certificates of cert-manager", "overlays/cert-manager"),
		Entry("with certificates of one's own", "overlays/self-signed"),
		Entry("of an installation", "examples/installation"),
	)

	// What a Deployment is taken with, its pods may still be refused with.
	It("have pods that the namespace admits", func(ctx SpecContext) {
		client := ClientOf(environment.Admin)
		admitted := []string{}
		for _, document := range built(ctx, "examples/installation") {
			var deployment appsv1.Deployment
			Expect(yaml.Unmarshal([]byte(document), &deployment)).To(Succeed())
			if deployment.Kind != "Deployment" {
				continue
			}
			_, err := client.CoreV1().Pods(deployment.Namespace).Create(ctx, &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{GenerateName: deployment.Name + "-", Labels: deployment.Spec.Template.Labels},
				Spec:       deployment.Spec.Template.Spec,
			}, metav1.CreateOptions{DryRun: DryRun})
			Expect(err).NotTo(HaveOccurred())
			admitted = append(admitted, deployment.Name)
		}
		Expect(admitted).To(ConsistOf("instance-apiserver", "instance-controller"))
	})

	It("make Instances what the group is asked for first", func(SpecContext) {
		groups, err := ClientOf(environment.Admin).Discovery().ServerGroups()
		Expect(err).NotTo(HaveOccurred())
		for _, group := range groups.Groups {
			if group.Name == "compute.unikorn-cloud.org" {
				Expect(group.PreferredVersion.Version).To(Equal("v1beta1"))
				Expect(group.Versions).To(HaveLen(2))
				return
			}
		}
		Fail("the group is not there")
	})
})
