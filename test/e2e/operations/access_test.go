// SPDX-License-Identifier: Apache-2.0

package operations

import (
	"context"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

// anonymously is the status that somebody without credentials gets.
func anonymously(ctx context.Context, server, path string) int {
	GinkgoHelper()
	config := rest.AnonymousClientConfig(ConfigOf(environment.Admin))
	client, err := rest.HTTPClientFor(config)
	Expect(err).NotTo(HaveOccurred())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server+path, http.NoBody)
	Expect(err).NotTo(HaveOccurred())
	response, err := client.Do(request)
	Expect(err).NotTo(HaveOccurred())
	Expect(response.Body.Close()).To(Succeed())
	return response.StatusCode
}

const listPath = "/apis/compute.unikorn-cloud.org/v1beta1/namespaces/alpha/instances"

var _ = Describe("Access", func() {
	It("of a viewer is to read, not to write", func(ctx SpecContext) {
		Create(ctx, "web-1")
		viewer := Instances(environment.AlphaViewer, Alpha)
		_, err := viewer.Get(ctx, "web-1", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		list, err := viewer.List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(list.Items).To(HaveLen(1))
		_, err = viewer.Create(ctx, NewInstance("web-2"), metav1.CreateOptions{})
		Expect(err).To(BeRefused(403, metav1.StatusReasonForbidden))
		Expect(viewer.Delete(ctx, "web-1", metav1.DeleteOptions{})).To(BeRefused(403, metav1.StatusReasonForbidden))
	})

	It("of an editor of another project shows nothing", func(ctx SpecContext) {
		Create(ctx, "web-1")
		stranger := Instances(environment.BetaEditor, Alpha)
		_, err := stranger.Get(ctx, "web-1", metav1.GetOptions{})
		Expect(err).To(BeRefused(403, metav1.StatusReasonForbidden))
		_, err = stranger.List(ctx, metav1.ListOptions{})
		Expect(err).To(BeRefused(403, metav1.StatusReasonForbidden))
		_, err = Instances(environment.BetaEditor, metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
		Expect(err).To(BeRefused(403, metav1.StatusReasonForbidden))
		own, err := Instances(environment.BetaEditor, Beta).List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(own.Items).To(BeEmpty())
	})

	It("of nobody in particular is to the health of the API server only", func(ctx SpecContext) {
		for _, server := range Replicas() {
			for _, path := range []string{"/healthz", "/livez", "/readyz"} {
				Expect(anonymously(ctx, server, path)).To(Equal(http.StatusOK), path)
			}
			for _, path := range []string{listPath, "/apis", "/openapi/v2", "/metrics", "/version", "/debug/pprof/"} {
				Expect(anonymously(ctx, server, path)).To(BeElementOf(http.StatusUnauthorized, http.StatusForbidden), path)
			}
		}
		Expect(anonymously(ctx, ConfigOf(environment.Admin).Host, listPath)).To(BeElementOf(http.StatusUnauthorized, http.StatusForbidden))
	})
})
