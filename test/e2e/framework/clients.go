// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	clientset "github.com/unikorn-cloud/instance-apiserver/pkg/generated/clientset/versioned"
	computev1beta1 "github.com/unikorn-cloud/instance-apiserver/pkg/generated/clientset/versioned/typed/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
)

// ConfigOf is how person reaches the cluster.
func ConfigOf(person string) *rest.Config {
	GinkgoHelper()
	config, err := Env.ClientConfig(person)
	Expect(err).NotTo(HaveOccurred())
	// Specs wait for states, not for their turn.
	config.QPS, config.Burst = 200, 200
	return config
}

// ClientOf is a client of person for what is built in.
func ClientOf(person string) kubernetes.Interface {
	GinkgoHelper()
	return ClientFor(ConfigOf(person))
}

// ClientFor is a client for what is built in.
func ClientFor(config *rest.Config) kubernetes.Interface {
	GinkgoHelper()
	client, err := kubernetes.NewForConfig(config)
	Expect(err).NotTo(HaveOccurred())
	return client
}

// InstancesFor is a client for Instances.
func InstancesFor(config *rest.Config) clientset.Interface {
	GinkgoHelper()
	client, err := clientset.NewForConfig(config)
	Expect(err).NotTo(HaveOccurred())
	return client
}

// Instances are those of namespace as the person sees them.
func Instances(person, namespace string) computev1beta1.InstanceInterface {
	GinkgoHelper()
	return InstancesFor(ConfigOf(person)).ComputeV1beta1().Instances(namespace)
}

// InAlpha are the instances most specs are about.
func InAlpha() computev1beta1.InstanceInterface {
	GinkgoHelper()
	return Instances(environment.AlphaEditor, Alpha)
}

// InBothOrganizations is alpha-gamma-editor where the authenticator says which
// organizations people are in, so that region shows what is in either.
const InBothOrganizations = environment.AlphaGammaEditor + " of both organizations"

// InstancesAs are those of namespace as the person sees them.
func InstancesAs(person, namespace string) computev1beta1.InstanceInterface {
	GinkgoHelper()
	if person != InBothOrganizations {
		return Instances(person, namespace)
	}
	return InstancesFor(Somebody(rest.ImpersonationConfig{
		UserName: environment.AlphaGammaEditor,
		Extra:    map[string][]string{principal.OrganizationIDsExtra: {string(world.Acme), string(world.Umbrella)}},
	})).ComputeV1beta1().Instances(namespace)
}

// Somebody is a client for namespace alpha of a user that an authenticator
// would make known in that way.
func Somebody(who rest.ImpersonationConfig) *rest.Config {
	GinkgoHelper()
	config := ConfigOf(environment.Admin)
	config.Impersonate = who
	return config
}

var _ rest.WarningHandler = &Heard{}

// Heard is a client for namespace alpha that keeps the warnings it is given.
type Heard struct {
	computev1beta1.InstanceInterface

	mu       sync.Mutex
	warnings []string
}

// Hearing returns such a client for the person.
func Hearing(person string) *Heard {
	GinkgoHelper()
	h := &Heard{}
	config := ConfigOf(person)
	config.WarningHandler = h
	h.InstanceInterface = InstancesFor(config).ComputeV1beta1().Instances(Alpha)
	return h
}

// HandleWarningHeader implements rest.WarningHandler.
func (h *Heard) HandleWarningHeader(_ int, _, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.warnings = append(h.warnings, text)
}

// Said returns the warnings since it was last called.
func (h *Heard) Said() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	warnings := h.warnings
	h.warnings = nil
	return warnings
}

// May says whether person may do it, in namespace.
func May(ctx context.Context, person, verb, resource, subresource, namespace string) bool {
	GinkgoHelper()
	review, err := ClientOf(person).AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Group: "compute.unikorn-cloud.org", Resource: resource, Subresource: subresource, Namespace: namespace, Verb: verb,
		}},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	return review.Status.Allowed
}

// kubectlTimeout ends a command that waits for what does not come.
const kubectlTimeout = 2 * time.Minute

// Kubectl runs kubectl as person and returns what it prints.
func Kubectl(ctx context.Context, person string, arguments ...string) string {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(ctx, kubectlTimeout)
	defer cancel()
	output, err := Env.Kubectl(ctx, person, arguments...)
	Expect(err).NotTo(HaveOccurred(), output)
	return output
}

// AsEditor runs kubectl as alpha-editor.
func AsEditor(ctx SpecContext, arguments ...string) string {
	GinkgoHelper()
	return Kubectl(ctx, environment.AlphaEditor, arguments...)
}

// Example is the path of a manifest of artifacts/examples.
func Example(name string) string {
	return filepath.Join(Root, "artifacts", "examples", name)
}
