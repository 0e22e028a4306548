// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	applyv1beta1 "github.com/unikorn-cloud/instance-apiserver/pkg/generated/applyconfiguration/compute/v1beta1"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

func mustApply(ctx context.Context, wanted *Applied, manager string) *v1beta1.Instance {
	GinkgoHelper()
	result, err := Apply(ctx, wanted, manager)
	Expect(err).NotTo(HaveOccurred())
	return result
}

// managers are those who manage fields of the Instance, with what they did.
func managers(instance *v1beta1.Instance) map[string]metav1.ManagedFieldsOperationType {
	found := map[string]metav1.ManagedFieldsOperationType{}
	for _, entry := range instance.ManagedFields {
		found[entry.Manager] = entry.Operation
	}
	return found
}

var _ = Describe("Server-side apply", func() {
	It("creates what does not exist", func(ctx SpecContext) {
		wanted, _ := Declared("web-1")
		created := mustApply(ctx, wanted, "team-a")
		Expect(created.Spec.Name).To(Equal("web-1"))
		Expect(created.UID).NotTo(BeEmpty())
		Expect(managers(created)).To(Equal(map[string]metav1.ManagedFieldsOperationType{"team-a": metav1.ManagedFieldsOperationApply}))
		Expect(Charged(ctx)).To(HaveLen(1))
	})

	It("keeps the resourceVersion when nothing changes", func(ctx SpecContext) {
		wanted, spec := Declared("web-1")
		spec.WithTags(applyv1beta1.Tag().WithName("env").WithValue("demo"))
		mustApply(ctx, wanted, "team-a")
		// The controller writes as well, until there is nothing more to say.
		Eventually(func(g Gomega) {
			before := Get(ctx, "web-1")
			g.Expect(mustApply(ctx, wanted, "team-a").ResourceVersion).To(Equal(before.ResourceVersion))
		}).WithContext(ctx).Should(Succeed())
	})

	It("by two managers of the same field is a conflict that names the manager and the field", func(ctx SpecContext) {
		wanted, _ := Declared("web-1")
		mustApply(ctx, wanted, "team-a")
		other := applyv1beta1.Instance("web-1", Alpha).WithSpec(applyv1beta1.InstanceSpec().WithImageID(Ubuntu2))
		_, err := Apply(ctx, other, "team-b")
		Expect(err).To(BeRefused(409, metav1.StatusReasonConflict))
		status, _ := StatusOf(err)
		Expect(status.Details.Causes).To(ConsistOf(And(
			HaveField("Type", metav1.CauseTypeFieldManagerConflict),
			HaveField("Field", ".spec.imageID"),
			HaveField("Message", ContainSubstring(`"team-a"`)))))
		Expect(Get(ctx, "web-1").Spec.ImageID).To(Equal(Ubuntu))
	})

	It("with force takes the field over", func(ctx SpecContext) {
		wanted, _ := Declared("web-1")
		mustApply(ctx, wanted, "team-a")
		other := applyv1beta1.Instance("web-1", Alpha).WithSpec(applyv1beta1.InstanceSpec().WithImageID(Ubuntu2))
		taken, err := InAlpha().Apply(ctx, other, metav1.ApplyOptions{FieldManager: "team-b", Force: true})
		Expect(err).NotTo(HaveOccurred())
		Expect(taken.Spec.ImageID).To(Equal(Ubuntu2))

		_, err = Apply(ctx, wanted, "team-a")
		Expect(err).To(BeRefused(409, metav1.StatusReasonConflict))
		status, _ := StatusOf(err)
		Expect(status.Details.Causes).To(ConsistOf(HaveField("Message", ContainSubstring(`"team-b"`))))
	})

	It("lets two managers have a tag each, and one take only its own away", func(ctx SpecContext) {
		wanted, _ := Declared("web-1")
		mustApply(ctx, wanted, "owner")
		mustApply(ctx, Tagged("web-1", "env", "prod"), "team-a")
		both := mustApply(ctx, Tagged("web-1", "tier", "web"), "team-b")
		Expect(both.Spec.Tags).To(ConsistOf(HaveField("Name", "env"), HaveField("Name", "tier")))
		Expect(managers(both)).To(And(HaveKey("owner"), HaveKey("team-a"), HaveKey("team-b")))

		one := mustApply(ctx, applyv1beta1.Instance("web-1", Alpha), "team-a")
		Expect(one.Spec.Tags).To(ConsistOf(HaveField("Name", "tier")))
	})

	It("remembers the managers, their times included, across writes by others", func(ctx SpecContext) {
		wanted, _ := Declared("web-1")
		mustApply(ctx, wanted, "team-a")
		applied := mustApply(ctx, Tagged("web-1", "env", "prod"), "team-b")
		patched, err := InAlpha().Patch(ctx, "web-1", types.MergePatchType,
			[]byte(`{"metadata":{"labels":{"team":"blue"}}}`), metav1.PatchOptions{FieldManager: "patcher"})
		Expect(err).NotTo(HaveOccurred())
		Expect(managers(patched)).To(Equal(map[string]metav1.ManagedFieldsOperationType{
			"team-a":  metav1.ManagedFieldsOperationApply,
			"team-b":  metav1.ManagedFieldsOperationApply,
			"patcher": metav1.ManagedFieldsOperationUpdate,
		}))
		// Through the other replica as well, and after the controller has written.
		AwaitRunning(ctx, "web-1")
		for range 2 {
			read := Get(ctx, "web-1")
			Expect(read.ManagedFields).To(ContainElements(applied.ManagedFields))
		}
	})

	It("with kubectl reports the conflict, and --force-conflicts resolves it", func(ctx SpecContext) {
		AsEditor(ctx, "apply", "--server-side", "--field-manager=team-a", "-f", Example("instance.yaml"))
		changed := edited("instance.yaml", "value: demo", "value: prod")
		_, err := Env.Kubectl(ctx, environment.AlphaEditor, "apply", "--server-side", "--field-manager=team-b", "-f", changed)
		Expect(err).To(MatchError(And(
			ContainSubstring(`conflict with "team-a"`), ContainSubstring(`.spec.tags[name="env"].value`))))
		AsEditor(ctx, "apply", "--server-side", "--field-manager=team-b", "--force-conflicts", "-f", changed)
		Expect(Get(ctx, "web-1").Spec.Tags).To(ConsistOf(HaveField("Value", "prod")))
	})

	It("of what is not the client's to say leaves it unowned", func(ctx SpecContext) {
		wanted, _ := Declared("web-1")
		wanted.WithLabels(map[string]string{"team": "blue", "unikorn-cloud.org/project": "another"}).WithFinalizers("unikorn")
		created := mustApply(ctx, wanted, "team-a")
		Expect(created.ManagedFields).To(HaveLen(1))
		owned := string(created.ManagedFields[0].FieldsV1.GetRawBytes())
		Expect(owned).To(And(ContainSubstring(`"f:team"`), Not(ContainSubstring("unikorn-cloud.org/project")), Not(ContainSubstring("f:finalizers"))))
	})
})
