// SPDX-License-Identifier: Apache-2.0

package operations

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

// owner is a user who may do everything with ComputeInstances, in namespace
// alpha.
const owner = "alpha-owner"

// asOwner gives the owner these rights until the spec ends.
func asOwner(ctx context.Context) dynamic.ResourceInterface {
	GinkgoHelper()
	rbac := ClientOf(environment.Admin).RbacV1()
	role, err := rbac.Roles(Alpha).Create(ctx, &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{"compute.unikorn-cloud.org"}, Resources: []string{rbacv1.ResourceAll}, Verbs: []string{rbacv1.VerbAll},
		}},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		Expect(rbac.Roles(Alpha).Delete(ctx, role.Name, metav1.DeleteOptions{})).To(Succeed())
	})
	binding, err := rbac.RoleBindings(Alpha).Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: owner}},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		Expect(rbac.RoleBindings(Alpha).Delete(ctx, binding.Name, metav1.DeleteOptions{})).To(Succeed())
	})
	client := StoredAs(Somebody(rest.ImpersonationConfig{UserName: owner}))
	Eventually(func() error {
		_, err := client.List(ctx, metav1.ListOptions{})
		return err
	}).Should(Succeed())
	return client
}

// mergeInto patches a ComputeInstance with what is in the metadata or the spec.
func mergeInto(ctx context.Context, client dynamic.ResourceInterface, name string, patch map[string]any, subresources ...string) error {
	GinkgoHelper()
	body, err := json.Marshal(patch)
	Expect(err).NotTo(HaveOccurred())
	_, err = client.Patch(ctx, name, types.MergePatchType, body, metav1.PatchOptions{}, subresources...)
	return err
}

func metadata(member string, value any) map[string]any {
	return map[string]any{"metadata": map[string]any{member: value}}
}

func label(key string, value any) map[string]any {
	return metadata("labels", map[string]any{key: value})
}

var beForbiddenToWrite = And(BeRefused(http.StatusForbidden, metav1.StatusReasonForbidden), MatchError(ContainSubstring("use Instances")))

var _ = Describe("Who may do everything with ComputeInstances in one namespace", func() {
	It("cannot plant one", func(ctx SpecContext) {
		_, err := asOwner(ctx).Create(ctx, Untyped(NewComputeInstance("web-1")), metav1.CreateOptions{})
		Expect(err).To(beForbiddenToWrite)
		Expect(Get(ctx, NewComputeInstance("web-1").Name)).To(BeNil())
	})

	Describe("when there is one", Ordered, func() {
		var (
			name   string
			before *v1beta1.Instance
		)
		BeforeAll(func(ctx SpecContext) {
			name = string(Create(ctx, "web-1").Status.InstanceID)
			before = AwaitInPlace(ctx, "web-1")
		})

		DescribeTable("cannot edit",
			func(ctx SpecContext, patch map[string]any, subresources ...string) {
				Expect(mergeInto(ctx, asOwner(ctx), name, patch, subresources...)).To(beForbiddenToWrite)
				Expect(Get(ctx, "web-1")).To(Equal(before))
			},
			Entry("its spec", map[string]any{"spec": map[string]any{"flavorId": Gpu}}),
			Entry("its name", label(v1alpha1.LabelInstanceName, "other")),
			Entry("any other label", label("team", "blue")),
			Entry("what is charged for it", metadata("annotations", map[string]any{v1alpha1.AnnotationAllocationID: "other"})),
			Entry("its status", map[string]any{"status": map[string]any{"privateIp": "192.0.2.1"}}, "status"),
			Entry("that its server and charge go before it", metadata("finalizers", []string{})),
		)

		It("may do what the garbage collector does", func(ctx SpecContext) {
			client := asOwner(ctx)
			Expect(mergeInto(ctx, client, name, metadata("finalizers", []string{v1alpha1.Finalizer, "example.com/hold"}))).To(Succeed())
			Expect(mergeInto(ctx, client, name, metadata("finalizers", []string{v1alpha1.Finalizer}))).To(Succeed())
		})

		It("may delete it, which takes what belongs to it", func(ctx SpecContext) {
			Expect(asOwner(ctx).Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
			Eventually(Get).WithContext(ctx).WithArguments("web-1").Should(BeNil())
			Expect(Machines(ctx)).To(BeEmpty())
			Expect(Charged(ctx)).To(BeEmpty())
		})
	})
})

var _ = Describe("The right to write ComputeInstances", func() {
	DescribeTable("in the whole cluster",
		func(ctx SpecContext, user string, groups []string, held bool) {
			review, err := ClientOf(environment.Admin).AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
				Spec: authorizationv1.SubjectAccessReviewSpec{
					User: user, Groups: groups,
					ResourceAttributes: &authorizationv1.ResourceAttributes{
						Group: "compute.unikorn-cloud.org", Resource: "computeinstances", Verb: "write",
					},
				},
			}, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
			Expect(review.Status.Allowed).To(Equal(held))
		},
		Entry("the API server holds", "system:serviceaccount:unikorn-compute:instance-apiserver", nil, true),
		Entry("the controller holds", "system:serviceaccount:unikorn-compute:instance-controller", nil, true),
		Entry("administrators hold", "root", []string{"system:masters"}, true),
		Entry("an editor does not hold", environment.AlphaEditor, nil, false),
		Entry("another service account does not hold", "system:serviceaccount:alpha:default", nil, false),
	)

	It("comes with cluster-admin, and is enough", func(ctx SpecContext) {
		const user = "another-administrator"
		bindings := ClientOf(environment.Admin).RbacV1().ClusterRoleBindings()
		binding, err := bindings.Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) {
			Expect(bindings.Delete(ctx, binding.Name, metav1.DeleteOptions{})).To(Succeed())
		})
		Eventually(func() error {
			_, err := StoredAs(Somebody(rest.ImpersonationConfig{UserName: user})).
				Create(ctx, Untyped(NewComputeInstance("web-1")), metav1.CreateOptions{DryRun: DryRun})
			return err
		}).Should(Succeed())
	})
})

var (
	// requiredLabels may not be missing, and no label may change.
	requiredLabels = []string{
		v1alpha1.LabelName, v1alpha1.LabelOrganization, v1alpha1.LabelProject, v1alpha1.LabelRegion, v1alpha1.LabelNetwork,
	}
	frozenLabels = append([]string{v1alpha1.LabelPrincipalOrganization, v1alpha1.LabelPrincipalProject}, requiredLabels...)
)

// beInvalidLabel matches the refusal of a write on account of a label.
func beInvalidLabel(key string) OmegaMatcher {
	return And(BeRefused(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid), MatchError(ContainSubstring(key)))
}

var _ = Describe("The labels of a ComputeInstance", func() {
	admin := func() dynamic.ResourceInterface { return StoredAs(ConfigOf(environment.Admin)) }

	It("must be complete from the start", func(ctx SpecContext) {
		for _, key := range requiredLabels {
			for _, spoil := range []func(map[string]string){
				func(labels map[string]string) { delete(labels, key) },
				func(labels map[string]string) { labels[key] = "" },
			} {
				object := NewComputeInstance("web-1", func(object *v1alpha1.ComputeInstance) { spoil(object.Labels) })
				_, err := admin().Create(ctx, Untyped(object), metav1.CreateOptions{DryRun: DryRun})
				Expect(err).To(beInvalidLabel(key))
			}
		}
	})

	It("are frozen, even for administrators", func(ctx SpecContext) {
		name := string(Create(ctx, "web-1").Status.InstanceID)
		before := Stored(ctx, name).Labels
		for _, key := range frozenLabels {
			for _, value := range []any{"other", "", nil} {
				Expect(mergeInto(ctx, admin(), name, label(key, value))).To(beInvalidLabel(key), "%s: %v", key, value)
			}
		}
		Expect(Stored(ctx, name).Labels).To(Equal(before))
		Expect(mergeInto(ctx, admin(), name, label("team", "blue"))).To(Succeed(), "others are free")
	})

	It("that say who is charged cannot be added either", func(ctx SpecContext) {
		name := Plant(ctx, NewComputeInstance("web-1", func(object *v1alpha1.ComputeInstance) {
			object.Spec.Pause = true
			delete(object.Labels, v1alpha1.LabelPrincipalOrganization)
			delete(object.Labels, v1alpha1.LabelPrincipalProject)
		}))
		Expect(mergeInto(ctx, admin(), name, label(v1alpha1.LabelPrincipalProject, string(world.Beta)))).
			To(beInvalidLabel(v1alpha1.LabelPrincipalProject))
		Expect(mergeInto(ctx, admin(), name, label("team", "blue"))).To(Succeed())
	})
})

// manifest is a file of artifacts/base/api.
func manifest(name string) string {
	return filepath.Join(Root, "artifacts", "base", "api", name)
}

var _ = Describe("A ComputeInstance that lacks labels, from before there was a policy,", Serial, func() {
	const policy = "instance-resources.compute.unikorn-cloud.org"
	var (
		admin dynamic.ResourceInterface
		name  string
	)

	// attempt is a create that the policy would refuse.
	attempt := func(ctx context.Context) error {
		object := NewComputeInstance("web-2", func(object *v1alpha1.ComputeInstance) { delete(object.Labels, v1alpha1.LabelRegion) })
		_, err := admin.Create(ctx, Untyped(object), metav1.CreateOptions{DryRun: DryRun})
		return err
	}
	restore := func(ctx SpecContext) {
		Kubectl(ctx, environment.Admin, "apply", "--server-side", "-f", manifest("admission-computeinstances.yaml"))
		Eventually(attempt).WithContext(ctx).Should(beInvalidLabel(v1alpha1.LabelRegion))
	}

	BeforeEach(func(ctx SpecContext) {
		admin = StoredAs(ConfigOf(environment.Admin))
		bindings := ClientOf(environment.Admin).AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
		Expect(bindings.Delete(ctx, policy, metav1.DeleteOptions{})).To(Succeed())
		DeferCleanup(restore)
		Eventually(attempt).WithContext(ctx).Should(Succeed())
		name = Plant(ctx, NewComputeInstance("web-1", func(object *v1alpha1.ComputeInstance) {
			delete(object.Labels, v1alpha1.LabelRegion)
		}))
		restore(ctx)
		// The controller has put its finalizer there, and cannot do more.
		malformed := AwaitReason(ctx, name, v1alpha1.ReasonErrored)
		Expect(malformed.Finalizers).To(Equal([]string{v1alpha1.Finalizer}))
		Expect(ConditionOf(malformed, v1beta1.ConditionAvailable).Message).To(ContainSubstring(v1alpha1.LabelRegion))
	})

	It("can be written as it is, lose no other, and be completed", func(ctx SpecContext) {
		Expect(mergeInto(ctx, admin, name, map[string]any{"spec": map[string]any{"pause": true}})).To(Succeed())
		Expect(mergeInto(ctx, admin, name, map[string]any{"spec": map[string]any{"pause": false}})).To(Succeed())
		Expect(mergeInto(ctx, admin, name, label(v1alpha1.LabelNetwork, nil))).To(beInvalidLabel(v1alpha1.LabelNetwork))
		Expect(Machines(ctx)).To(BeEmpty())

		Expect(mergeInto(ctx, admin, name, label(v1alpha1.LabelRegion, string(world.North)))).To(Succeed())
		AwaitInPlace(ctx, name)
		Expect(mergeInto(ctx, admin, name, label(v1alpha1.LabelRegion, nil))).To(beInvalidLabel(v1alpha1.LabelRegion))
	})

	It("can be deleted, and its finalizer be removed", func(ctx SpecContext) {
		Expect(admin.Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
		Expect(Stored(ctx, name).DeletionTimestamp).NotTo(BeNil())
		Expect(mergeInto(ctx, admin, name, metadata("finalizers", nil))).To(Succeed())
		Expect(Get(ctx, name)).To(BeNil())
	})

	It("can lose its finalizer before it is deleted, and then goes at once", func(ctx SpecContext) {
		Expect(mergeInto(ctx, admin, name, map[string]any{"metadata": map[string]any{"finalizers": nil, "annotations": nil}})).To(Succeed())
		Expect(admin.Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
		if Get(ctx, name) != nil { // The controller was quicker to put it back.
			Expect(mergeInto(ctx, admin, name, metadata("finalizers", nil))).To(Succeed())
		}
		Expect(Get(ctx, name)).To(BeNil())
	})
})
