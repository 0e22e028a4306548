// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"github.com/google/uuid"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

var _ = Describe("The ComputeInstance of the example", Ordered, ContinueOnFailure, func() {
	const name = "fec34c20-b989-5630-b619-2587bf28a979"
	var object *v1alpha1.ComputeInstance

	BeforeAll(func(ctx SpecContext) {
		AsEditor(ctx, "apply", "-f", Example("instance.yaml"))
		object = Stored(ctx, name)
	})

	It("is named "+name+", which is also the Instance's platform-wide id", func(ctx SpecContext) {
		Expect(Get(ctx, "web-1").Status.InstanceID).To(BeEquivalentTo(name))
	})

	It("has the seven labels of the platform and the one of the Instance's name", func() {
		Expect(object.Labels).To(Equal(map[string]string{
			"unikorn-cloud.org/name":                   "web-1",
			"unikorn-cloud.org/organization":           string(world.Acme),
			"unikorn-cloud.org/project":                string(world.Alpha),
			"principal.unikorn-cloud.org/organization": string(world.Acme),
			"principal.unikorn-cloud.org/project":      string(world.Alpha),
			"regions.unikorn-cloud.org/region-id":      string(world.North),
			"regions.unikorn-cloud.org/network-id":     string(AlphaNet),

			"compute.unikorn-cloud.org/instance-name": "web-1",
		}))
	})

	It("has the allocation id, the creator and the finalizer", func(ctx SpecContext) {
		held, err := Simulator().Allocations(ctx)
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
		held, err := Simulator().Allocations(ctx)
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
		Expect(object.Spec.FlavorID).To(Equal(Standard))
		Expect(object.Spec.ImageID).To(Equal(Ubuntu))
		Expect(object.Spec.Networking.PublicIP).To(BeTrue())
		Expect(object.Spec.Networking.SecurityGroupIDs).To(ConsistOf(AlphaGroup))
		Expect(object.Spec.Tags).To(ConsistOf(v1alpha1.Tag{Name: "env", Value: "demo"}))
	})

	It("gives the Instance a uid derived from its own, and its other metadata", func(ctx SpecContext) {
		instance := AwaitRunning(ctx, "web-1")
		object := Stored(ctx, name)
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
		servers, err := Simulator().Servers(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(servers).To(HaveLen(1))
		Expect(servers[0].Metadata.Name).To(Equal("web-1"))
		Expect(servers[0].Metadata.Tags).To(ContainElement(And(
			HaveField("Name", "compute.unikorn-cloud.org/instance-id"), HaveField("Value", name))))
	})

	It("cannot be seen by tenants", func(ctx SpecContext) {
		_, err := Env.Kubectl(ctx, environment.AlphaEditor, "get", "computeinstances.v1alpha1.compute.unikorn-cloud.org")
		Expect(err).To(MatchError(ContainSubstring("Forbidden")))
	})
})
