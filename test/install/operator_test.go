// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
)

// operator is somebody who follows the page in a folder of theirs.
type operator struct {
	folder, clone string
}

// newOperator has what the page says is there before: a clone, and the files
// that the platform gave.
func newOperator() operator {
	GinkgoHelper()
	clone, err := filepath.Abs(root)
	Expect(err).NotTo(HaveOccurred())
	o := operator{folder: GinkgoT().TempDir(), clone: clone}
	Expect(os.Symlink(filepath.Join(clone, "artifacts"), o.path("artifacts"))).To(Succeed())
	for file, given := range map[string]string{
		"client.crt": "unikorn-compute.crt", "client.key": "unikorn-compute.key", "platform-ca.crt": "ca.crt",
	} {
		content, err := os.ReadFile(pki(given))
		Expect(err).NotTo(HaveOccurred())
		Expect(os.WriteFile(o.path(file), content, 0o600)).To(Succeed())
	}
	return o
}

// leadToReplica adds to the installation what takes the place of pods.
func (o operator) leadToReplica() {
	GinkgoHelper()
	o.edit("  - path: network.yaml", "  - path: network.yaml\n  - path: nodeless.yaml")
	Expect(os.WriteFile(o.path("my-cluster", "nodeless.yaml"), []byte(nodeless()), 0o600)).To(Succeed())
}

func (o operator) path(elements ...string) string {
	return filepath.Join(append([]string{o.folder}, elements...)...)
}

// edit changes the kustomization of the installation.
func (o operator) edit(before, after string) {
	GinkgoHelper()
	file := o.path("my-cluster", "kustomization.yaml")
	content, err := os.ReadFile(file)
	Expect(err).NotTo(HaveOccurred())
	Expect(strings.Count(string(content), before)).To(Equal(1), before)
	Expect(os.WriteFile(file, []byte(strings.Replace(string(content), before, after, 1)), 0o600)).To(Succeed())
}

// nodeless leads the cluster to a replica of the environment, which is no pod.
func nodeless() string {
	GinkgoHelper()
	return fmt.Sprintf(`apiVersion: v1
kind: Service
metadata: {name: instance-apiserver, namespace: unikorn-compute}
spec: {type: ExternalName, externalName: localhost, selector: null}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta1.compute.unikorn-cloud.org}
spec: {service: {port: %s}}
`, portOf(replica))
}

// replica is the one that the cluster is led to.
const replica = "instance-apiserver-0"

// addressOf is where a component of the environment listens.
func addressOf(component string) string {
	GinkgoHelper()
	content, err := os.ReadFile(filepath.Join(string(env.Folder), "addresses.json"))
	Expect(err).NotTo(HaveOccurred())
	addresses := map[string]string{}
	Expect(json.Unmarshal(content, &addresses)).To(Succeed())
	return addresses[component]
}

func portOf(component string) string {
	GinkgoHelper()
	address, err := url.Parse("https://" + addressOf(component))
	Expect(err).NotTo(HaveOccurred())
	return address.Port()
}

func pki(file string) string {
	return filepath.Join(string(env.Folder), "pki", file)
}

// mount does what the kubelet does with the secret of the serving certificate:
// it renews the files of the pod. It returns the certificate.
func mount(ctx context.Context) []byte {
	GinkgoHelper()
	secret, err := admin().CoreV1().Secrets("unikorn-compute").Get(ctx, "instance-apiserver-tls", metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	for key, file := range map[string]string{"tls.crt": "instance-apiserver.crt", "tls.key": "instance-apiserver.key"} {
		Expect(os.WriteFile(pki(file), secret.Data[key], 0o600)).To(Succeed())
	}
	return secret.Data["tls.crt"]
}

// key is a file with the request for an SSH key.
func (o operator) key() string {
	GinkgoHelper()
	file := o.path("key.json")
	Expect(os.WriteFile(file, []byte(`{"apiVersion": "compute.unikorn-cloud.org/v1beta1", "kind": "InstanceSSHKey"}`), 0o600)).To(Succeed())
	return file
}

func admin() kubernetes.Interface {
	GinkgoHelper()
	config, err := env.ClientConfig(environment.Admin)
	Expect(err).NotTo(HaveOccurred())
	client, err := kubernetes.NewForConfig(config)
	Expect(err).NotTo(HaveOccurred())
	return client
}
