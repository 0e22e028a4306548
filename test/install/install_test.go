// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/adminclient"
	"github.com/unikorn-cloud/instance-apiserver/test/suite"
)

// kubectl runs kubectl as administrator and returns what it prints.
func kubectl(ctx context.Context, arguments ...string) string {
	GinkgoHelper()
	output, err := attempt(ctx, arguments...)
	Expect(err).NotTo(HaveOccurred(), output)
	return output
}

// attempt is a kubectl that may fail.
func attempt(ctx context.Context, arguments ...string) (string, error) {
	// A command that hangs is a fault, and not waited for.
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	return env.Kubectl(ctx, environment.Admin, arguments...)
}

const (
	api         = "apiservice/v1beta1.compute.unikorn-cloud.org"
	available   = `jsonpath={.status.conditions[?(@.type=="Available")].status}`
	terminating = `jsonpath={.status.conditions[?(@.type=="Terminating")].reason}`
	// secret is user data.
	secret = "#cloud-config\npassword: hunter2\n"
)

// held is what the platform holds for instances: machines and charges.
func held(ctx context.Context) (int, error) {
	url, err := env.SimulatorURL()
	if err != nil {
		return 0, err
	}
	servers, err := adminclient.Client{URL: url}.Servers(ctx)
	if err != nil {
		return 0, err
	}
	allocations, err := adminclient.Client{URL: url}.Allocations(ctx)
	return len(servers) + len(allocations), err
}

// makeInstance returns when its machine runs.
func makeInstance(ctx context.Context, o operator, name string) {
	GinkgoHelper()
	file := o.path(name + ".yaml")
	Expect(os.WriteFile(file, fmt.Appendf(nil, `apiVersion: compute.unikorn-cloud.org/v1beta1
kind: Instance
metadata: {name: %s, namespace: alpha}
spec:
  networkID: 0d000000-0000-4000-8000-0000000000d1
  flavorID: 11111111-1111-1111-1111-111111111111
  imageID: 33333333-3333-3333-3333-333333333333
  userData: %s
`, name, base64.StdEncoding.EncodeToString([]byte(secret))), 0o600)).To(Succeed())
	kubectl(ctx, "create", "-f", file)
	kubectl(ctx, "-n", "alpha", "wait", "instance/"+name, "--for=condition=Ready", "--timeout=90s")
}

// served is the certificate that the replica shows, if it is one that the
// cluster trusts.
func (o operator) served(ctx context.Context) ([]byte, error) {
	authorities := x509.NewCertPool()
	for _, file := range []string{"ca.crt", "ca-old.crt"} {
		content, err := os.ReadFile(o.path("my-cluster", "certificates", file))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		authorities.AppendCertsFromPEM(content)
	}
	dialer := &tls.Dialer{Config: &tls.Config{
		RootCAs: authorities, ServerName: "instance-apiserver.unikorn-compute.svc", MinVersion: tls.VersionTLS12,
	}}
	connection, err := dialer.DialContext(ctx, "tcp", addressOf(replica))
	if err != nil {
		return nil, err
	}
	shown := connection.(*tls.Conn).ConnectionState().PeerCertificates[0].Raw
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: shown}), connection.Close()
}

func namespaceIsGone(ctx context.Context, name string) bool {
	_, err := admin().CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
	return apierrors.IsNotFound(err)
}

var _ = Describe("Who follows docs/install.md", Ordered, func() {
	var o operator

	BeforeAll(func() { o = newOperator() })

	It("installs", func(ctx SpecContext) {
		for _, step := range commands("An installation") {
			o.follow(ctx, step)
		}
		o.leadToReplica()
		steps := commands("Install")
		for _, step := range steps[:len(steps)-1] {
			o.follow(ctx, step)
		}
		mount(ctx)
		o.follow(ctx, steps[len(steps)-1])

		By("everything of the installation being there")
		kubectl(ctx, "get", "--kustomize", o.path("my-cluster"))
		makeInstance(ctx, o, "web-1")
	}, NodeTimeout(suite.StartTimeout))

	It("keeps user data out of the cluster's audit", func(ctx SpecContext) {
		kubectl(ctx, "create", "--raw", "/apis/compute.unikorn-cloud.org/v1beta1/namespaces/alpha/instances/web-1/sshkey", "-f", o.key())
		for _, match := range []struct{ resource, subresource string }{
			{"instances", ""}, {"instances", "sshkey"}, {"computeinstances", ""},
		} {
			events := recorded(of(match.resource, match.subresource))
			Expect(events).NotTo(BeEmpty(), "%s/%s", match.resource, match.subresource)
		}
		log, err := os.ReadFile(env.Audit("kube-apiserver"))
		Expect(err).NotTo(HaveOccurred())
		Expect(string(log)).To(ContainSubstring(`"requestObject"`), "of others")
		Expect(string(log)).NotTo(ContainSubstring(base64.StdEncoding.EncodeToString([]byte(secret))))
		Expect(string(log)).NotTo(ContainSubstring("PRIVATE KEY"))
	})

	It("upgrades", func(ctx SpecContext) {
		for _, step := range commands("Upgrade") {
			o.follow(ctx, step)
		}
		Expect(kubectl(ctx, "get", "instances", "--all-namespaces")).To(ContainSubstring("web-1"))
	})

	It("renews the serving certificate and its authority, and restarts nothing", func(ctx SpecContext) {
		for _, step := range commands("Certificates") {
			before, err := o.served(ctx)
			Expect(err).NotTo(HaveOccurred())
			o.follow(ctx, step)
			Expect(kubectl(ctx, "get", "instances", "--all-namespaces")).To(ContainSubstring("web-1"), "before the pods have it")
			after := mount(ctx)
			Expect(after).NotTo(Equal(before))
			Eventually(o.served).WithContext(ctx).Should(Equal(after))
			Eventually(attempt).WithContext(ctx).WithArguments("get", "instances", "--all-namespaces").Should(ContainSubstring("web-1"))
		}
		Expect(kubectl(ctx, "get", api, "-o", available)).To(Equal("True"))
	}, NodeTimeout(suite.StartTimeout))

	It("goes on when the API server was gone before its APIService", func(ctx SpecContext) {
		kubectl(ctx, "-n", "unikorn-compute", "patch", "service", "instance-apiserver", "--type=merge", "-p", `{"spec":{"externalName":"nobody.invalid"}}`)
		Eventually(attempt).WithContext(ctx).WithArguments("get", api, "-o", available).Should(Equal("False"))

		By("the rest of the cluster being there")
		Eventually(attempt).WithContext(ctx).WithArguments("api-resources").
			Should(And(ContainSubstring("deployments"), ContainSubstring("computeinstances"), Not(ContainSubstring("compute.unikorn-cloud.org/v1beta1"))))
		Expect(kubectl(ctx, "get", "computeinstances", "--all-namespaces")).To(ContainSubstring("web-1"))

		By("namespaces not going away")
		_, err := admin().CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "bystander"}}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(admin().CoreV1().Namespaces().Delete(ctx, "bystander", metav1.DeleteOptions{})).To(Succeed())
		Eventually(func(g Gomega) {
			bystander, err := admin().CoreV1().Namespaces().Get(ctx, "bystander", metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(bystander.Status.Conditions).To(ContainElement(And(
				HaveField("Type", corev1.NamespaceDeletionDiscoveryFailure),
				HaveField("Status", corev1.ConditionTrue),
				HaveField("Message", ContainSubstring("compute.unikorn-cloud.org/v1beta1")))))
		}).WithContext(ctx).Should(Succeed())

		kubectl(ctx, "delete", api)
		Eventually(namespaceIsGone).WithContext(ctx).WithArguments("bystander").Should(BeTrue())

		By("the API coming back")
		kubectl(ctx, "apply", "--server-side", "--force-conflicts", "--kustomize", o.path("my-cluster"))
		kubectl(ctx, "wait", "--for=condition=Available", api, "--timeout=2m")
		Eventually(attempt).WithContext(ctx).WithArguments("get", "instances", "--all-namespaces").Should(ContainSubstring("web-1"))
	}, NodeTimeout(suite.StartTimeout))

	It("goes on when the controller's rights and the CRD went before the instances", func(ctx SpecContext) {
		const crd = "crd/computeinstances.compute.unikorn-cloud.org"
		kubectl(ctx, "delete", "clusterrolebinding", "unikorn-compute:instance-controller")
		kubectl(ctx, "delete", crd, "--wait=false")
		Eventually(attempt).WithContext(ctx).WithArguments("get", crd, "-o", terminating).Should(Equal("InstanceDeletionInProgress"))
		Expect(held(ctx)).NotTo(BeZero())

		steps := commands("Install")
		o.follow(ctx, steps[1])
		Eventually(func() error {
			_, err := attempt(ctx, "get", crd)
			return err
		}).WithContext(ctx).Should(MatchError(ContainSubstring("NotFound")))
		Expect(held(ctx)).To(BeZero())

		o.follow(ctx, steps[0])
	}, NodeTimeout(suite.StartTimeout))

	It("uninstalls, and nothing is left", func(ctx SpecContext) {
		Eventually(attempt).WithContext(ctx).WithArguments("get", "instances", "--all-namespaces").Should(BeEmpty(), "none are left of before")
		makeInstance(ctx, o, "web-2")
		Expect(held(ctx)).NotTo(BeZero())

		steps := commands("Uninstall")
		Expect(o.follow(ctx, steps[0])).To(ContainSubstring("No resources found"))
		Expect(held(ctx)).To(BeZero())
		for _, step := range steps[1 : len(steps)-1] {
			o.follow(ctx, step)
		}
		Expect(o.follow(ctx, steps[len(steps)-1])).To(Equal("No resources found\n"))
		Expect(namespaceIsGone(ctx, "unikorn-compute")).To(BeTrue())

		By("the cluster being as it was")
		Expect(kubectl(ctx, "api-resources")).NotTo(ContainSubstring("unikorn-cloud.org"))
		Expect(admin().CoreV1().Namespaces().Delete(ctx, "alpha", metav1.DeleteOptions{})).To(Succeed())
		Eventually(namespaceIsGone).WithContext(ctx).WithArguments("alpha").Should(BeTrue())
	}, NodeTimeout(suite.StartTimeout))
})
