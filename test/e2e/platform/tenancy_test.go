// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"context"
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/settings"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

// binding are the labels that bind a namespace to a project.
type binding map[string]any

func boundTo(organization ids.OrganizationID, project ids.ProjectID) binding {
	return binding{v1alpha1.LabelOrganization: organization, v1alpha1.LabelProject: project}
}

var (
	unbound   = binding{v1alpha1.LabelOrganization: nil, v1alpha1.LabelProject: nil}
	elsewhere = boundTo(world.Acme, "0a000000-0000-4000-8000-0000000000af")
)

// rebindAlpha changes what namespace alpha is bound to until the spec, or the
// group of specs, ends.
func rebindAlpha(ctx context.Context, to binding) {
	GinkgoHelper()
	relabel := func(ctx context.Context, to binding) {
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": to}})
		Expect(err).NotTo(HaveOccurred())
		_, err = ClientOf(environment.Admin).CoreV1().Namespaces().Patch(ctx, Alpha, types.MergePatchType, patch, metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
	}
	relabel(ctx, to)
	DeferCleanup(func(ctx SpecContext) {
		relabel(ctx, boundTo(world.Acme, world.Alpha))
		AwaitAlphaOpen(ctx)
	})
}

// newNamespace makes a namespace, bound or not, until the spec ends.
func newNamespace(ctx context.Context, labels map[string]string) string {
	GinkgoHelper()
	namespaces := ClientOf(environment.Admin).CoreV1().Namespaces()
	made, err := namespaces.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-", Labels: labels}}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		Expect(namespaces.Delete(ctx, made.Name, metav1.DeleteOptions{})).To(Succeed())
		Eventually(NamespaceGone(ctx, made.Name)).WithContext(ctx).Should(Succeed())
	})
	return made.Name
}

var _ = Describe("A namespace bound to no project", Serial, func() {
	DescribeTable("takes no Instance: 403 saying what is missing, and nobody is asked",
		func(ctx SpecContext, labels map[string]string) {
			namespace := newNamespace(ctx, labels)
			ForgetRequests(ctx)
			err := CreateIn(ctx, environment.Admin, namespace, NewInstance("web-1"))
			Expect(err).To(BeRefused(403, metav1.StatusReasonForbidden))
			Expect(err).To(MatchError(And(ContainSubstring(namespace), ContainSubstring("is not bound to a project"),
				ContainSubstring(v1alpha1.LabelOrganization), ContainSubstring(v1alpha1.LabelProject))))
			Expect(Asked(ctx)).To(BeEmpty())
		},
		Entry("without labels", nil),
		Entry("with an organization alone", map[string]string{v1alpha1.LabelOrganization: string(world.Acme)}),
		Entry("with a project alone", map[string]string{v1alpha1.LabelProject: "0a000000-0000-4000-8000-0000000000af"}),
	)

	It("has Instances in it all the same that can be listed: none", func(ctx SpecContext) {
		list, err := Instances(environment.Admin, newNamespace(ctx, nil)).List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(list.Items).To(BeEmpty())
	})
})

var _ = Describe("Two namespaces bound to one project", Serial, func() {
	It("take no Instance, either of them: 403 saying so", func(ctx SpecContext) {
		Create(ctx, "web-1")
		DeferCleanup(AwaitAlphaOpen)
		second := newNamespace(ctx, map[string]string{v1alpha1.LabelOrganization: string(world.Acme), v1alpha1.LabelProject: string(world.Alpha)})
		for _, namespace := range []string{Alpha, second} {
			Eventually(CreateIn).WithContext(ctx).WithArguments(environment.Admin, namespace, NewInstance("web-2")).Should(And(
				BeRefused(403, metav1.StatusReasonForbidden), MatchError(ContainSubstring("is not the only namespace bound to its project"))))
		}
		_, err := Merge(ctx, environment.AlphaEditor, "web-1", `{"spec":{"paused":true}}`)
		Expect(err).To(BeRefused(403, metav1.StatusReasonForbidden))
		_, err = Merge(ctx, environment.AlphaEditor, "web-1", `{"metadata":{"labels":{"team":"blue"}}}`)
		Expect(err).NotTo(HaveOccurred())
		Expect(Charged(ctx)).To(HaveLen(1))
	})
})

var _ = Describe("An Instance whose namespace", Serial, func() {
	for _, now := range []struct {
		is string
		to binding
	}{{"is bound to another project", elsewhere}, {"is bound to none any more", unbound}} {
		Describe(now.is, Ordered, func() {
			BeforeAll(func(ctx SpecContext) {
				Create(ctx, "web-1")
				AwaitRunning(ctx, "web-1")
				rebindAlpha(ctx, now.to)
				ForgetRequests(ctx)
			})

			It("can be read", func(ctx SpecContext) {
				found, err := InAlpha().Get(ctx, "web-1", metav1.GetOptions{})
				Expect(err).NotTo(HaveOccurred())
				Expect(found.Spec.ProjectID).To(Equal(world.Alpha), "what is stored is the scope")
				list, err := InAlpha().List(ctx, metav1.ListOptions{})
				Expect(err).NotTo(HaveOccurred())
				Expect(list.Items).To(HaveLen(1))
			})

			It("can be given other metadata", func(ctx SpecContext) {
				changed, err := Merge(ctx, environment.AlphaEditor, "web-1",
					`{"metadata":{"labels":{"team":"blue"},"annotations":{"unikorn-cloud.org/description":"left behind"},"finalizers":["unikorn","example.com/x"]}}`)
				Expect(err).NotTo(HaveOccurred())
				Expect(changed.Labels).To(HaveKeyWithValue("team", "blue"))
				changed, err = Merge(ctx, environment.AlphaEditor, "web-1", `{"metadata":{"finalizers":["unikorn"]}}`)
				Expect(err).NotTo(HaveOccurred())
				Expect(changed.Finalizers).To(Equal([]string{"unikorn"}))
			})

			It("cannot be changed otherwise: 403", func(ctx SpecContext) {
				_, err := Merge(ctx, environment.AlphaEditor, "web-1", `{"spec":{"paused":true}}`)
				Expect(err).To(BeRefused(403, metav1.StatusReasonForbidden))
				Expect(err).To(MatchError(ContainSubstring("bound to")))
				_, err = Apply(ctx, Tagged("web-1", "env", "prod"), "e2e")
				Expect(err).To(BeRefused(403, metav1.StatusReasonForbidden))
			})

			It("cannot be operated: 403", func(ctx SpecContext) {
				_, err := InAlpha().GetPower(ctx, "web-1", metav1.GetOptions{})
				Expect(err).To(BeRefused(403, metav1.StatusReasonForbidden))
				_, err = InAlpha().CreatePower(ctx, "web-1", &v1beta1.InstancePower{Spec: v1beta1.InstancePowerSpec{Action: v1beta1.PowerActionStop}}, metav1.CreateOptions{})
				Expect(err).To(BeRefused(403, metav1.StatusReasonForbidden))
				_, err = InAlpha().CreateSSHKey(ctx, "web-1", &v1beta1.InstanceSSHKey{}, metav1.CreateOptions{})
				Expect(err).To(BeRefused(403, metav1.StatusReasonForbidden))
			})

			It("gave nobody a reason to ask the platform", func(ctx SpecContext) {
				Expect(Asked(ctx)).To(BeEmpty())
			})

			It("can be deleted, and gives back what it held", func(ctx SpecContext) {
				AsEditor(ctx, "delete", "inst", "web-1", "--timeout=60s")
				Expect(Machines(ctx)).To(BeEmpty())
				Expect(Charged(ctx)).To(BeEmpty())
			})
		})
	}
})

var _ = Describe("A namespace bound to another project meanwhile", Serial, func() {
	It("is of that project: its own network is foreign now", func(ctx SpecContext) {
		rebindAlpha(ctx, elsewhere)
		// Identity knows no such project and has no rights in it for anybody.
		Expect(CreateIn(ctx, environment.Admin, Alpha, NewInstance("web-1"))).To(BeInvalidFor(NotFoundAt(NetworkField)))
	})

	It("while a create is under way makes it 403, and nothing is charged", func(ctx SpecContext) {
		WithSettings(ctx, func(s *settings.Settings) { s.RegionLatencyMillis = 2000 })
		ForgetRequests(ctx)
		answered := make(chan error, 1)
		client := InAlpha()
		go func() {
			_, err := client.Create(ctx, NewInstance("web-1"), metav1.CreateOptions{})
			answered <- err
		}()
		Eventually(Asked).WithContext(ctx).Should(ContainElement("region GET networks/" + string(AlphaNet)))
		rebindAlpha(ctx, elsewhere)
		var err error
		Eventually(answered).WithContext(ctx).Should(Receive(&err))
		Expect(err).To(BeRefused(403, metav1.StatusReasonForbidden))
		Expect(Asked(ctx)).NotTo(ContainElement(HavePrefix("identity")))
		Expect(Charged(ctx)).To(BeEmpty())
	})
})

var _ = Describe("A tenant who may edit the own namespace", Serial, func() {
	BeforeEach(func(ctx SpecContext) {
		admin := ClientOf(environment.Admin).RbacV1()
		_, err := admin.Roles(Alpha).Create(ctx, &rbacv1.Role{
			ObjectMeta: metav1.ObjectMeta{Name: "namespace-owner"},
			Rules: []rbacv1.PolicyRule{{
				APIGroups: []string{""}, Resources: []string{"namespaces", "namespaces/status", "namespaces/finalize"}, Verbs: []string{"get", "update", "patch"},
			}},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		_, err = admin.RoleBindings(Alpha).Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "namespace-owner"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "namespace-owner"},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: environment.AlphaEditor}},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) {
			Expect(admin.RoleBindings(Alpha).Delete(ctx, "namespace-owner", metav1.DeleteOptions{})).To(Succeed())
			Expect(admin.Roles(Alpha).Delete(ctx, "namespace-owner", metav1.DeleteOptions{})).To(Succeed())
		})
		Eventually(Env.Kubectl).WithContext(ctx).WithArguments(environment.AlphaEditor, "label", "namespace", Alpha, "team=blue", "--overwrite").Should(Not(BeEmpty()))
		DeferCleanup(func(ctx SpecContext) { Kubectl(ctx, environment.Admin, "label", "namespace", Alpha, "team-") })
	})

	DescribeTable("cannot bind it to another project: 403 by the admission policy",
		func(ctx SpecContext, subresources ...string) {
			for _, labels := range []binding{unbound, elsewhere, boundTo(world.Acme, world.Beta), {v1alpha1.LabelOrganization: world.Umbrella}} {
				patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": labels}})
				Expect(err).NotTo(HaveOccurred())
				_, err = ClientOf(environment.AlphaEditor).CoreV1().Namespaces().Patch(ctx, Alpha, types.MergePatchType, patch, metav1.PatchOptions{}, subresources...)
				Expect(err).To(BeRefused(403, metav1.StatusReasonForbidden), "%v", labels)
				Expect(err).To(MatchError(And(ContainSubstring("namespaces.compute.unikorn-cloud.org"), ContainSubstring("bind-project"))))
			}
			namespace, err := ClientOf(environment.Admin).CoreV1().Namespaces().Get(ctx, Alpha, metav1.GetOptions{})
			Expect(err).NotTo(HaveOccurred())
			Expect(namespace.Labels).To(And(
				HaveKeyWithValue(v1alpha1.LabelOrganization, string(world.Acme)), HaveKeyWithValue(v1alpha1.LabelProject, string(world.Alpha))))
		},
		Entry("as such"),
		Entry("by way of its status", "status"),
	)

	It("cannot do so by way of its finalizers either", func(ctx SpecContext) {
		namespaces := ClientOf(environment.AlphaEditor).CoreV1().Namespaces()
		namespace, err := namespaces.Get(ctx, Alpha, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		namespace.Labels[v1alpha1.LabelProject] = string(world.Beta)
		_, err = namespaces.Finalize(ctx, namespace, metav1.UpdateOptions{})
		Expect(err).To(BeRefused(403, metav1.StatusReasonForbidden))
	})
})

var _ = Describe("The organization and the project of a new Instance", func() {
	owned := func(organization ids.OrganizationID, project ids.ProjectID) *v1beta1.Instance {
		return NewInstance("web-1", func(instance *v1beta1.Instance) {
			instance.Spec.OrganizationID, instance.Spec.ProjectID = organization, project
		})
	}

	It("may be given, if they are the namespace's", func(ctx SpecContext) {
		Expect(CreateIn(ctx, environment.AlphaEditor, Alpha, owned(world.Acme, world.Alpha))).To(Succeed())
	})

	It("are filled in from the namespace", func(ctx SpecContext) {
		created := Create(ctx, "web-1")
		Expect(created.Spec.OrganizationID).To(Equal(world.Acme))
		Expect(created.Spec.ProjectID).To(Equal(world.Alpha))
	})

	DescribeTable("are 422 if they are another's, also of somebody who is in both",
		func(ctx SpecContext, person string, organization ids.OrganizationID, project ids.ProjectID, causes ...string) {
			Expect(CreateIn(ctx, person, Alpha, owned(organization, project))).To(BeInvalidFor(causes...))
			Expect(Charged(ctx)).To(BeEmpty())
		},
		Entry("another project", environment.AlphaBetaEditor, world.Acme, world.Beta, InvalidAt("spec.projectID")),
		Entry("another project, and no organization", environment.AlphaBetaEditor, ids.OrganizationID(""), world.Beta, InvalidAt("spec.projectID")),
		Entry("another organization", environment.AlphaGammaEditor, world.Umbrella, world.Alpha, InvalidAt("spec.organizationID")),
		Entry("both", environment.AlphaGammaEditor, world.Umbrella, world.Gamma, InvalidAt("spec.organizationID"), InvalidAt("spec.projectID")),
	)
})
