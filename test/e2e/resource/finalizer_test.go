// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	computev1beta1 "github.com/unikorn-cloud/instance-apiserver/pkg/generated/clientset/versioned/typed/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/fault"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

// edit changes an Instance web-1 in one of the ways there are.
type edit func(ctx context.Context, as computev1beta1.InstanceInterface) error

func putting(change func(*v1beta1.Instance)) edit {
	return func(ctx context.Context, as computev1beta1.InstanceInterface) error {
		changed, err := as.Get(ctx, "web-1", metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(changed)
		changed.ResourceVersion = ""
		_, err = as.Update(ctx, changed, metav1.UpdateOptions{})
		return err
	}
}

func sending(kind types.PatchType, body string, options metav1.PatchOptions) edit {
	return func(ctx context.Context, as computev1beta1.InstanceInterface) error {
		_, err := as.Patch(ctx, "web-1", kind, []byte(body), options)
		return err
	}
}

// applyingMetadata applies nothing but metadata.
func applyingMetadata(metadata string, force bool) edit {
	body := `{"apiVersion":"compute.unikorn-cloud.org/v1beta1","kind":"Instance","metadata":` + metadata + `}`
	return sending(types.ApplyPatchType, body, metav1.PatchOptions{FieldManager: "tenant", Force: ptr.To(force)})
}

var (
	mergePatch = func(metadata string) edit {
		return sending(types.MergePatchType, `{"metadata":`+metadata+`}`, metav1.PatchOptions{})
	}
	strategicPatch = func(metadata string) edit {
		return sending(types.StrategicMergePatchType, `{"metadata":`+metadata+`}`, metav1.PatchOptions{})
	}
	jsonPatch = func(operations string) edit {
		return sending(types.JSONPatchType, operations, metav1.PatchOptions{})
	}
)

// droppingFinalizer are the ways in which a tenant could take the platform's
// finalizer off.
var droppingFinalizer = []TableEntry{
	Entry("PUT", putting(func(i *v1beta1.Instance) { i.Finalizers = nil })),
	Entry("PUT of others in its place", putting(func(i *v1beta1.Instance) { i.Finalizers = []string{"example.com/x"} })),
	Entry("a JSON patch", jsonPatch(`[{"op":"remove","path":"/metadata/finalizers"}]`)),
	Entry("a JSON patch of its place", jsonPatch(`[{"op":"remove","path":"/metadata/finalizers/0"}]`)),
	Entry("a merge patch", mergePatch(`{"finalizers":null}`)),
	Entry("a strategic merge patch", strategicPatch(`{"$deleteFromPrimitiveList/finalizers":["unikorn"]}`)),
	Entry("apply", applyingMetadata(`{"name":"web-1","finalizers":[]}`, false)),
	Entry("apply with force", applyingMetadata(`{"name":"web-1","finalizers":["example.com/x"]}`, true)),
}

var _ = Describe("The finalizer of the platform", func() {
	Describe("on an Instance in use", Ordered, ContinueOnFailure, func() {
		BeforeAll(func(ctx SpecContext) {
			Create(ctx, "web-1")
			AwaitRunning(ctx, "web-1")
		})

		DescribeTable("stays whatever a tenant does",
			func(ctx SpecContext, by edit) {
				Expect(by(ctx, InAlpha())).To(Succeed())
				Expect(Get(ctx, "web-1").Finalizers).To(ContainElement("unikorn"))
				_, err := Merge(ctx, environment.AlphaEditor, "web-1", `{"metadata":{"finalizers":["unikorn"]}}`)
				Expect(err).NotTo(HaveOccurred())
				Expect(Get(ctx, "web-1").Finalizers).To(Equal([]string{"unikorn"}))
			},
			droppingFinalizer,
		)
	})

	Describe("on an Instance that is being deleted", Ordered, ContinueOnFailure, func() {
		BeforeAll(func(ctx SpecContext) {
			Create(ctx, "web-1")
			AwaitRunning(ctx, "web-1")
			WithFaults(ctx, fault.Fault{Service: "region", Method: http.MethodDelete, Status: ptr.To(http.StatusServiceUnavailable)})
			Expect(InAlpha().Delete(ctx, "web-1", metav1.DeleteOptions{})).To(Succeed())
		})

		DescribeTable("stays whatever a tenant does",
			func(ctx SpecContext, by edit) {
				// Who takes it off and puts another on is told that none can be put on now.
				Expect(by(ctx, InAlpha())).To(Or(Succeed(), BeRefused(422, metav1.StatusReasonInvalid)))
				left := Get(ctx, "web-1")
				Expect(left).NotTo(BeNil())
				Expect(left.Finalizers).To(Equal([]string{"unikorn"}))
			},
			droppingFinalizer,
		)

		It("stays until the machine is gone, and goes then", func(ctx SpecContext) {
			Expect(Machines(ctx)).To(Equal([]string{"web-1"}))
			Expect(Charged(ctx)).To(HaveLen(1))
			Expect(Simulator().ClearFaults(ctx)).To(Succeed())
			Eventually(Get).WithContext(ctx).WithArguments("web-1").Should(BeNil())
			Expect(Machines(ctx)).To(BeEmpty())
			Expect(Charged(ctx)).To(BeEmpty())
		})
	})
})

var _ = Describe("Keys of the platform", Ordered, ContinueOnFailure, func() {
	const (
		label      = "unikorn-cloud.org/project"
		annotation = "unikorn-cloud.org/allocation-id"
	)
	var before *v1beta1.Instance

	BeforeAll(func(ctx SpecContext) {
		Create(ctx, "web-1")
		before = AwaitRunning(ctx, "web-1")
	})

	both := fmt.Sprintf(`{"labels":{%q:"x"},"annotations":{%q:"x"}}`, label, annotation)
	named := fmt.Sprintf(`{"name":"web-1","labels":{%q:"x"},"annotations":{%q:"x"}}`, label, annotation)

	DescribeTable("stay what they are whatever a tenant does, with a warning for each",
		func(ctx SpecContext, by edit, warns bool) {
			client := Hearing(environment.AlphaEditor)
			Expect(by(ctx, client)).To(Succeed())
			after := Get(ctx, "web-1")
			Expect(after.Labels).To(Equal(before.Labels))
			Expect(after.Annotations).To(Equal(before.Annotations))
			if warns {
				Expect(client.Said()).To(ConsistOf(ContainSubstring("metadata.labels["+label+"]"), ContainSubstring("metadata.annotations["+annotation+"]")))
			}
		},
		Entry("PUT", putting(func(i *v1beta1.Instance) { i.Labels[label], i.Annotations[annotation] = "x", "x" }), true),
		Entry("PUT without any", putting(func(i *v1beta1.Instance) { i.Labels, i.Annotations = nil, nil }), false),
		Entry("a JSON patch", jsonPatch(`[{"op":"replace","path":"/metadata/labels/unikorn-cloud.org~1project","value":"x"},`+
			`{"op":"replace","path":"/metadata/annotations/unikorn-cloud.org~1allocation-id","value":"x"}]`), true),
		Entry("a JSON patch that removes all", jsonPatch(`[{"op":"remove","path":"/metadata/labels"},{"op":"remove","path":"/metadata/annotations"}]`), false),
		Entry("a merge patch", mergePatch(both), true),
		Entry("a strategic merge patch", strategicPatch(both), true),
		Entry("apply", applyingMetadata(named, false), true),
		Entry("apply with force", applyingMetadata(named, true), true),
		Entry("apply of less than before", applyingMetadata(`{"name":"web-1"}`, false), false),
	)

	It("are owned by nobody who applied them, so nobody is in conflict over them", func(ctx SpecContext) {
		for _, manager := range []string{"team-a", "team-b"} {
			wanted := `{"apiVersion":"compute.unikorn-cloud.org/v1beta1","kind":"Instance","metadata":{"name":"web-1","labels":{"` + label + `":"` + manager +
				`"},"annotations":{"` + annotation + `":"` + manager + `"},"finalizers":["unikorn"]}}`
			Expect(sending(types.ApplyPatchType, wanted, metav1.PatchOptions{FieldManager: manager})(ctx, InAlpha())).To(Succeed())
		}
		for _, entry := range Get(ctx, "web-1").ManagedFields {
			owned := string(entry.FieldsV1.GetRawBytes())
			Expect(owned).NotTo(Or(ContainSubstring(label), ContainSubstring(annotation), ContainSubstring("unikorn")), entry.Manager)
		}
	})

	It("do not include the description, which anybody may write and own", func(ctx SpecContext) {
		const description = "unikorn-cloud.org/description"
		for i, by := range []edit{
			putting(func(i *v1beta1.Instance) { metav1.SetMetaDataAnnotation(&i.ObjectMeta, description, "text 0") }),
			mergePatch(`{"annotations":{"` + description + `":"text 1"}}`),
			strategicPatch(`{"annotations":{"` + description + `":"text 2"}}`),
			jsonPatch(`[{"op":"add","path":"/metadata/annotations/unikorn-cloud.org~1description","value":"text 3"}]`),
			applyingMetadata(`{"name":"web-1","annotations":{"`+description+`":"text 4"}}`, true),
		} {
			client := Hearing(environment.AlphaEditor)
			Expect(by(ctx, client)).To(Succeed())
			Expect(Get(ctx, "web-1").Annotations).To(HaveKeyWithValue(description, fmt.Sprintf("text %d", i)))
			Expect(client.Said()).To(BeEmpty())
		}
		owners := slices.DeleteFunc(Get(ctx, "web-1").ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
			return entry.Manager != "tenant"
		})
		Expect(owners).To(HaveLen(1))
		Expect(string(owners[0].FieldsV1.GetRawBytes())).To(ContainSubstring("f:" + description))
		Expect(applyingMetadata(`{"name":"web-1"}`, false)(ctx, InAlpha())).To(Succeed())
		Expect(Get(ctx, "web-1").Annotations).NotTo(HaveKey(description))
	})
})

var _ = Describe("Who did what to an Instance", func() {
	const (
		creator          = "unikorn-cloud.org/creator"
		principalCreator = "principal.unikorn-cloud.org/creator"
		modifier         = "unikorn-cloud.org/modifier"
		modified         = "unikorn-cloud.org/modifiedTimestamp"
	)

	It("is said of changes of the spec alone, and its creator stays for life", func(ctx SpecContext) {
		created := Create(ctx, "web-1")
		Expect(created.Annotations).NotTo(Or(HaveKey(modifier), HaveKey(modified)))

		_, err := Merge(ctx, environment.AlphaBetaEditor, "web-1",
			`{"metadata":{"labels":{"team":"blue"},"annotations":{"unikorn-cloud.org/description":"mine"},"finalizers":["unikorn","example.com/x"]},"spec":{"paused":false}}`)
		Expect(err).NotTo(HaveOccurred())
		Expect(Get(ctx, "web-1").Annotations).NotTo(Or(HaveKey(modifier), HaveKey(modified)))

		var last string
		for i, person := range []string{environment.AlphaBetaEditor, environment.AlphaGammaEditor, environment.Admin} {
			changed, err := Merge(ctx, person, "web-1", fmt.Sprintf(`{"metadata":{"finalizers":["unikorn"]},"spec":{"tags":[{"name":"n","value":"%d"}]}}`, i))
			Expect(err).NotTo(HaveOccurred())
			Expect(changed.Annotations).To(And(
				HaveKeyWithValue(creator, environment.AlphaEditor), HaveKeyWithValue(principalCreator, environment.AlphaEditor),
				HaveKeyWithValue(modifier, person), HaveKeyWithValue("principal.unikorn-cloud.org/modifier", person), HaveKey(modified)))
			Expect(changed.Labels).To(And(
				HaveKeyWithValue("principal.unikorn-cloud.org/organization", string(world.Acme)),
				HaveKeyWithValue("principal.unikorn-cloud.org/project", string(world.Alpha))))
			last = changed.Annotations[modified]
		}
		labelled, err := Merge(ctx, environment.AlphaEditor, "web-1", `{"metadata":{"labels":{"team":"red"}}}`)
		Expect(err).NotTo(HaveOccurred())
		Expect(labelled.Annotations).To(And(HaveKeyWithValue(modifier, environment.Admin), HaveKeyWithValue(modified, last)))
	})

	It("cannot be made up", func(ctx SpecContext) {
		wanted := NewInstance("web-1")
		wanted.Annotations = map[string]string{creator: "another", modifier: "another", modified: "2000-01-01T00:00:00Z"}
		created, err := InAlpha().Create(ctx, wanted, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(created.Annotations).To(HaveKeyWithValue(creator, environment.AlphaEditor))
		Expect(created.Annotations).NotTo(Or(HaveKey(modifier), HaveKey(modified)))
	})
})
