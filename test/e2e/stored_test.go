// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"

	"github.com/google/uuid"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
)

// computeInstances are what is stored in namespace.
func computeInstances(namespace string) dynamic.ResourceInterface {
	GinkgoHelper()
	client, err := dynamic.NewForConfig(configOf(environment.Admin))
	Expect(err).NotTo(HaveOccurred())
	return client.Resource(v1alpha1.SchemeGroupVersion.WithResource("computeinstances")).Namespace(namespace)
}

// stored reads a ComputeInstance of namespace alpha.
func stored(ctx context.Context, name string) *v1alpha1.ComputeInstance {
	GinkgoHelper()
	found, err := computeInstances(alpha).Get(ctx, name, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	object := &v1alpha1.ComputeInstance{}
	Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, object)).To(Succeed())
	return object
}

// unlabelledResource is a ComputeInstance for namespace alpha as another
// interface of the platform would store it.
func unlabelledResource(name string) *unstructured.Unstructured {
	GinkgoHelper()
	id, err := ids.InstanceObjectName(alphaNet, name)
	Expect(err).NotTo(HaveOccurred())
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "compute.unikorn-cloud.org/v1alpha1", "kind": "ComputeInstance",
		"spec": map[string]any{"flavorId": string(standard), "imageId": string(ubuntu)},
	}}
	object.SetName(string(id))
	object.SetLabels(map[string]string{
		v1alpha1.LabelName:         name,
		v1alpha1.LabelOrganization: string(world.Acme), v1alpha1.LabelPrincipalOrganization: string(world.Acme),
		v1alpha1.LabelProject: string(world.Alpha), v1alpha1.LabelPrincipalProject: string(world.Alpha),
		v1alpha1.LabelNetwork: string(alphaNet), v1alpha1.LabelRegion: string(world.North),
	})
	object.SetAnnotations(map[string]string{v1alpha1.AnnotationPrincipalCreator: "somebody", v1alpha1.AnnotationCreator: "somebody"})
	return object
}

var _ = Describe("The ComputeInstance of the example", Ordered, ContinueOnFailure, func() {
	const name = "fec34c20-b989-5630-b619-2587bf28a979"
	var object *v1alpha1.ComputeInstance

	BeforeAll(func(ctx SpecContext) {
		asEditor(ctx, "apply", "-f", example("instance.yaml"))
		object = stored(ctx, name)
	})

	It("is named "+name+", which is also the Instance's platform-wide id", func(ctx SpecContext) {
		Expect(get(ctx, "web-1").Status.InstanceID).To(BeEquivalentTo(name))
	})

	It("has the seven labels of the platform and the one of the Instance's name", func() {
		Expect(object.Labels).To(Equal(map[string]string{
			"unikorn-cloud.org/name":                   "web-1",
			"unikorn-cloud.org/organization":           string(world.Acme),
			"unikorn-cloud.org/project":                string(world.Alpha),
			"principal.unikorn-cloud.org/organization": string(world.Acme),
			"principal.unikorn-cloud.org/project":      string(world.Alpha),
			"regions.unikorn-cloud.org/region-id":      string(world.North),
			"regions.unikorn-cloud.org/network-id":     string(alphaNet),

			"compute.unikorn-cloud.org/instance-name": "web-1",
		}))
	})

	It("has the allocation id, the creator and the finalizer", func(ctx SpecContext) {
		held, err := simulator().Allocations(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(held).To(HaveLen(1))
		Expect(object.Annotations).To(And(
			HaveKeyWithValue("unikorn-cloud.org/allocation-id", held[0].Metadata.ID),
			HaveKeyWithValue("unikorn-cloud.org/creator", environment.AlphaEditor),
			HaveKeyWithValue("principal.unikorn-cloud.org/creator", environment.AlphaEditor),
		))
		Expect(object.Finalizers).To(Equal([]string{"unikorn"}))
	})

	It("is charged for one server and one address, no GPU", func(ctx SpecContext) {
		held, err := simulator().Allocations(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(held).To(HaveLen(1))
		Expect(held[0].Spec.Kind).To(Equal("computeinstances.compute.unikorn-cloud.org"))
		Expect(held[0].Spec.ID).To(BeEquivalentTo(name))
		charges := map[string]int{}
		for _, part := range held[0].Spec.Allocations {
			charges[part.Kind] = part.Committed
		}
		Expect(charges).To(Equal(map[string]int{"servers": 1, "gpus": 0, "floatingips": 1}))
	})

	It("has what was asked for in its spec", func() {
		Expect(object.Spec.FlavorID).To(Equal(standard))
		Expect(object.Spec.ImageID).To(Equal(ubuntu))
		Expect(object.Spec.Networking.PublicIP).To(BeTrue())
		Expect(object.Spec.Networking.SecurityGroupIDs).To(ConsistOf(alphaGroup))
		Expect(object.Spec.Tags).To(ConsistOf(v1alpha1.Tag{Name: "env", Value: "demo"}))
	})

	It("gives the Instance a uid derived from its own, and its other metadata", func(ctx SpecContext) {
		instance := awaitRunning(ctx, "web-1")
		object := stored(ctx, name)
		derived := uuid.NewSHA1(uuid.MustParse(string(object.UID)), []byte("instances.compute.unikorn-cloud.org"))
		Expect(instance.UID).To(BeEquivalentTo(derived.String()))
		Expect(instance.UID).NotTo(Equal(object.UID))
		Expect(instance.ResourceVersion).To(Equal(object.ResourceVersion))
		Expect(instance.Generation).To(Equal(object.Generation))
		Expect(instance.CreationTimestamp).To(Equal(object.CreationTimestamp))
		Expect(instance.Labels).To(Equal(object.Labels))
		Expect(instance.Annotations).NotTo(HaveKey(v1alpha1.AnnotationManagedFields))
	})

	It("has one server behind it that names it", func(ctx SpecContext) {
		servers, err := simulator().Servers(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(servers).To(HaveLen(1))
		Expect(servers[0].Metadata.Name).To(Equal("web-1"))
		Expect(servers[0].Metadata.Tags).To(ContainElement(And(
			HaveField("Name", "compute.unikorn-cloud.org/instance-id"), HaveField("Value", name))))
	})

	It("cannot be seen by tenants", func(ctx SpecContext) {
		_, err := env.Kubectl(ctx, environment.AlphaEditor, "get", "computeinstances.v1alpha1.compute.unikorn-cloud.org")
		Expect(err).To(MatchError(ContainSubstring("Forbidden")))
	})
})
