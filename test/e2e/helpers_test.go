// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	gomegatypes "github.com/onsi/gomega/types"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	clientset "github.com/unikorn-cloud/instance-apiserver/pkg/generated/clientset/versioned"
	computev1beta1 "github.com/unikorn-cloud/instance-apiserver/pkg/generated/clientset/versioned/typed/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/adminclient"
)

// What the fixture holds.
const (
	alpha = "alpha"
	beta  = "beta"
	gamma = "gamma"

	alphaNet  ids.NetworkID = "0d000000-0000-4000-8000-0000000000d1"
	alphaNet2 ids.NetworkID = "0d000000-0000-4000-8000-0000000000d2"
	betaNet   ids.NetworkID = "0d000000-0000-4000-8000-0000000000d3"
	gammaNet  ids.NetworkID = "0d000000-0000-4000-8000-0000000000d4"

	alphaGroup     ids.SecurityGroupID           = "0e000000-0000-4000-8000-0000000000e1"
	alphaAuthority ids.SSHCertificateAuthorityID = "0f000000-0000-4000-8000-0000000000f1"

	standard ids.FlavorID = "11111111-1111-1111-1111-111111111111"
	gpu      ids.FlavorID = "22222222-2222-2222-2222-222222222222"
	ubuntu   ids.ImageID  = "33333333-3333-3333-3333-333333333333"
	ubuntu2  ids.ImageID  = "44444444-4444-4444-4444-444444444444"
)

var namespaces = []string{alpha, beta, gamma}

func configOf(person string) *rest.Config {
	GinkgoHelper()
	config, err := env.ClientConfig(person)
	Expect(err).NotTo(HaveOccurred())
	// Specs wait for states, not for their turn.
	config.QPS, config.Burst = 200, 200
	return config
}

func clientOf(person string) kubernetes.Interface {
	GinkgoHelper()
	return clientFor(configOf(person))
}

func clientFor(config *rest.Config) kubernetes.Interface {
	GinkgoHelper()
	client, err := kubernetes.NewForConfig(config)
	Expect(err).NotTo(HaveOccurred())
	return client
}

func instancesFor(config *rest.Config) clientset.Interface {
	GinkgoHelper()
	client, err := clientset.NewForConfig(config)
	Expect(err).NotTo(HaveOccurred())
	return client
}

// instances are those of namespace as the person sees them.
func instances(person, namespace string) computev1beta1.InstanceInterface {
	GinkgoHelper()
	return instancesFor(configOf(person)).ComputeV1beta1().Instances(namespace)
}

// inAlpha are the instances most specs are about.
func inAlpha() computev1beta1.InstanceInterface {
	GinkgoHelper()
	return instances(environment.AlphaEditor, alpha)
}

// kubectlTimeout ends a command that waits for what does not come.
const kubectlTimeout = 2 * time.Minute

// kubectl runs kubectl as person and returns what it prints.
func kubectl(ctx context.Context, person string, arguments ...string) string {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(ctx, kubectlTimeout)
	defer cancel()
	output, err := env.Kubectl(ctx, person, arguments...)
	Expect(err).NotTo(HaveOccurred(), output)
	return output
}

func simulator() adminclient.Client {
	GinkgoHelper()
	url, err := env.SimulatorURL()
	Expect(err).NotTo(HaveOccurred())
	return adminclient.Client{URL: url}
}

// newInstance is a valid Instance for namespace alpha.
func newInstance(name string, edits ...func(*v1beta1.Instance)) *v1beta1.Instance {
	instance := &v1beta1.Instance{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       v1beta1.InstanceSpec{NetworkID: alphaNet, FlavorID: standard, ImageID: ubuntu},
	}
	for _, edit := range edits {
		edit(instance)
	}
	return instance
}

func on(network ids.NetworkID) func(*v1beta1.Instance) {
	return func(instance *v1beta1.Instance) { instance.Spec.NetworkID = network }
}

func labelled(key, value string) func(*v1beta1.Instance) {
	return func(instance *v1beta1.Instance) { metav1.SetMetaDataLabel(&instance.ObjectMeta, key, value) }
}

// create makes an Instance in namespace alpha.
func create(ctx context.Context, name string, edits ...func(*v1beta1.Instance)) *v1beta1.Instance {
	GinkgoHelper()
	created, err := inAlpha().Create(ctx, newInstance(name, edits...), metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	return created
}

// get returns nil for an Instance of namespace alpha that does not exist.
func get(ctx context.Context, name string) *v1beta1.Instance {
	GinkgoHelper()
	found, err := inAlpha().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	Expect(err).NotTo(HaveOccurred())
	return found
}

func awaitRunning(ctx context.Context, name string) *v1beta1.Instance {
	GinkgoHelper()
	var found *v1beta1.Instance
	Eventually(func(g Gomega) {
		found = get(ctx, name)
		g.Expect(found).NotTo(BeNil())
		g.Expect(found.Status.PowerState).To(Equal(v1beta1.PowerStateRunning))
	}).WithContext(ctx).Should(Succeed())
	return found
}

// charged are the instances for which quota is held, by object name, sorted;
// one that is charged twice is in it twice.
func charged(ctx context.Context) []string {
	GinkgoHelper()
	held, err := simulator().Allocations(ctx)
	Expect(err).NotTo(HaveOccurred())
	names := []string{}
	for _, allocation := range held {
		names = append(names, allocation.Spec.ID)
	}
	slices.Sort(names)
	return names
}

// machines are the names of the servers there are, sorted.
func machines(ctx context.Context) []string {
	GinkgoHelper()
	servers, err := simulator().Servers(ctx)
	Expect(err).NotTo(HaveOccurred())
	names := []string{}
	for _, server := range servers {
		names = append(names, server.Metadata.Name)
	}
	slices.Sort(names)
	return names
}

// leaveNothing deletes what a spec has made and waits until it is gone, and
// everything that was held for it.
func leaveNothing(ctx SpecContext) {
	for _, namespace := range namespaces {
		Expect(instances(environment.Admin, namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})).To(Succeed())
	}
	Eventually(func() ([]v1beta1.Instance, error) {
		left, err := instances(environment.Admin, metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
		return left.Items, err
	}).WithContext(ctx).Should(BeEmpty())
	Eventually(machines).WithContext(ctx).Should(BeEmpty())
	Eventually(charged).WithContext(ctx).Should(BeEmpty())
}

// statusOf is what the API server answered.
func statusOf(err error) (metav1.Status, error) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return metav1.Status{}, errors.New("not an answer of an API server")
	}
	return status.Status(), nil
}

// beRefused matches the error of a request that was answered with the code and
// the reason.
func beRefused(code int32, reason metav1.StatusReason) gomegatypes.GomegaMatcher {
	return WithTransform(statusOf, And(HaveField("Code", code), HaveField("Reason", reason)))
}

// beInvalidAt matches the error of a request that was answered with 422 for the
// fields and no others.
func beInvalidAt(fields ...string) gomegatypes.GomegaMatcher {
	return And(beRefused(422, metav1.StatusReasonInvalid), WithTransform(fieldsOf, Equal(fields)))
}

// fieldsOf are the fields an answer complains about, sorted, each once.
func fieldsOf(err error) ([]string, error) {
	status, failure := statusOf(err)
	if failure != nil {
		return nil, failure
	}
	var fields []string
	if status.Details != nil {
		for _, cause := range status.Details.Causes {
			fields = append(fields, cause.Field)
		}
	}
	slices.Sort(fields)
	return slices.Compact(fields), nil
}

// redact takes out of a message what makes it differ from another of the kind.
func redact(message, value string) string {
	return strings.ReplaceAll(message, value, "…")
}
