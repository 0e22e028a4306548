// SPDX-License-Identifier: Apache-2.0

package operations

import (
	"context"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/acl"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

// Users who are not of the fixture.
const (
	reader    = "wildcard-reader"
	anonymous = "system:anonymous"
)

// asking is what somebody may do in both namespaces.
type asking struct {
	person          string
	inAlpha, inBeta rights
}

func (a asking) in(namespace string) rights {
	if namespace == Alpha {
		return a.inAlpha
	}
	return a.inBeta
}

// config is how the person is known to the cluster.
func (a asking) config() *rest.Config {
	GinkgoHelper()
	switch a.person {
	case anonymous:
		return rest.AnonymousClientConfig(ConfigOf(environment.Admin))
	case reader:
		return newcomer(reader)
	default:
		return ConfigOf(a.person)
	}
}

// newcomer is a client of somebody who is not of the fixture.
func newcomer(name string, groups ...string) *rest.Config {
	GinkgoHelper()
	config, err := Env.Somebody(name, groups...)
	Expect(err).NotTo(HaveOccurred())
	config.QPS, config.Burst = 200, 200
	return config
}

// everybody is the matrix of people and namespaces.
var everybody = []asking{
	{environment.AlphaEditor, editRights, noRights},
	{environment.AlphaViewer, viewRights, noRights},
	{environment.BetaEditor, noRights, editRights},
	{environment.AlphaBetaEditor, editRights, editRights},
	{reader, readRights, readRights},
	{anonymous, noRights, noRights},
}

// Names of the same length, so that answers are.
const thereName, missingName = "web-1", "web-9"

var _ = Describe("Every verb of every subresource", Serial, Ordered, ContinueOnFailure, func() {
	BeforeAll(func(ctx SpecContext) {
		grantReading(ctx)
		for _, namespace := range []string{Alpha, Beta} {
			instance := NewInstance(thereName, On(networkIn[namespace]))
			_, err := Instances(environment.AlphaBetaEditor, namespace).Create(ctx, instance, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
		}
		for _, namespace := range []string{Alpha, Beta} {
			awaitRunningIn(ctx, namespace, thereName)
		}
	})

	for _, who := range everybody {
		for _, namespace := range []string{Alpha, Beta} {
			It("is answered "+who.person+" in "+namespace+" as RBAC says, and nothing else is learnt or done", func(ctx SpecContext) {
				may := who.in(namespace)
				expectReview(ctx, who.person, namespace, may)
				through := askerFor(who.config())
				before := specified(ctx, namespace)
				ForgetRequests(ctx)
				for _, server := range append([]string{through.server}, Replicas()[0]) {
					for _, q := range questions {
						if may.Has(q.right) {
							expectAnswered(ctx, through.at(server), q, namespace)
						} else {
							expectRefused(ctx, through.at(server), q, namespace, who.person)
						}
					}
				}
				Expect(specified(ctx, namespace)).To(Equal(before))
				if may.Len() == 0 {
					Expect(Asked(ctx)).To(BeEmpty())
				}
			})
		}
	}

	It("is for nobody in all namespaces at once but who may read everywhere", func(ctx SpecContext) {
		for _, who := range everybody {
			person := askerFor(who.config())
			for _, path := range []string{"/instances", "/instances?watch=true", "/watch/instances"} {
				want := http.StatusForbidden
				if who.person == reader {
					want = http.StatusOK
				}
				Expect(person.get(ctx, apiPath+path, nil).Code).To(Equal(want), "%s: %s", who.person, path)
			}
		}
	})
})

var _ = Describe("Apply by who may change Instances but make none", func() {
	It("makes none", func(ctx SpecContext) {
		const patcher = "patcher"
		admin := ClientOf(environment.Admin).RbacV1()
		role, err := admin.Roles(Alpha).Create(ctx, &rbacv1.Role{
			ObjectMeta: metav1.ObjectMeta{GenerateName: patcher},
			Rules: []rbacv1.PolicyRule{{
				APIGroups: []string{v1beta1.GroupName}, Resources: []string{"instances"}, Verbs: []string{"get", "patch"},
			}},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) {
			Expect(admin.Roles(Alpha).Delete(ctx, role.Name, metav1.DeleteOptions{})).To(Succeed())
		})
		binding, err := admin.RoleBindings(Alpha).Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{GenerateName: patcher},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: patcher}},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) {
			Expect(admin.RoleBindings(Alpha).Delete(ctx, binding.Name, metav1.DeleteOptions{})).To(Succeed())
		})
		// The platform would let them.
		Expect(Simulator().SetRoles(ctx, patcher, map[ids.ProjectID]acl.Role{alphaID: acl.RoleEditor})).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(Simulator().SetRoles(ctx, patcher, nil)).To(Succeed()) })
		person := newcomer(patcher)
		Eventually(func() error {
			_, err := InstancesFor(person).ComputeV1beta1().Instances(Alpha).Get(ctx, missingName, metav1.GetOptions{})
			return err
		}).WithContext(ctx).Should(BeRefused(404, metav1.StatusReasonNotFound))
		declaration, _ := Declared(missingName)
		_, err = InstancesFor(person).ComputeV1beta1().Instances(Alpha).Apply(ctx, declaration, metav1.ApplyOptions{FieldManager: "e2e"})
		Expect(err).To(BeRefused(403, metav1.StatusReasonForbidden))
		Expect(err).To(MatchError(ContainSubstring("cannot create resource")))
		Expect(Get(ctx, missingName)).To(BeNil())
		Expect(Charged(ctx)).To(BeEmpty())
	})
})

func awaitRunningIn(ctx context.Context, namespace, name string) {
	GinkgoHelper()
	Eventually(func() (v1beta1.PowerState, error) {
		found, err := Instances(environment.AlphaBetaEditor, namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		return found.Status.PowerState, nil
	}).WithContext(ctx).Should(Equal(v1beta1.PowerStateRunning))
}

// specified is what people have said about the Instances of a namespace.
func specified(ctx context.Context, namespace string) map[string]v1beta1.Instance {
	GinkgoHelper()
	list, err := Instances(environment.Admin, namespace).List(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	found := map[string]v1beta1.Instance{}
	for _, item := range list.Items {
		found[item.Name] = v1beta1.Instance{Spec: item.Spec, ObjectMeta: metav1.ObjectMeta{
			UID: item.UID, Generation: item.Generation, Labels: item.Labels, DeletionTimestamp: item.DeletionTimestamp,
		}}
	}
	return found
}

func expectAnswered(ctx context.Context, by asker, q question, namespace string) {
	GinkgoHelper()
	for name, code := range map[string]int{thereName: q.there, missingName: q.missing} {
		answer := by.ask(ctx, q, namespace, name, true)
		Expect(answer.Code).To(Equal(code), "%s %s: %s", q.method, q.path, answer.Body)
		Expect(answer.Body).NotTo(ContainSubstring("PRIVATE KEY"))
	}
}

// expectRefused checks that the answer says who may not do what, and is the same
// whether there is such an Instance or not.
func expectRefused(ctx context.Context, by asker, q question, namespace, person string) {
	GinkgoHelper()
	there := by.ask(ctx, q, namespace, thereName, false)
	missing := by.ask(ctx, q, namespace, missingName, false)
	Expect(missing.bytes(missingName)).To(Equal(there.bytes(thereName)), "%s %s", q.method, q.path)
	if person == anonymous && by.server != ConfigOf(environment.Admin).Host {
		Expect(there.Code).To(Equal(http.StatusUnauthorized), "%s %s: %s", q.method, q.path, there.Body)
		Expect(there.Status().Reason).To(Equal(metav1.StatusReasonUnauthorized))
		return
	}
	verb, subresource, below := strings.Cut(q.right, " ")
	resource := "instances"
	if below {
		resource += "/" + subresource
	}
	status := there.Status()
	Expect(there.Code).To(Equal(http.StatusForbidden), "%s %s: %s", q.method, q.path, there.Body)
	Expect(status.Reason).To(Equal(metav1.StatusReasonForbidden))
	Expect(status.Message).To(HaveSuffix(`User "` + person + `" cannot ` + verb + ` resource "` + resource +
		`" in API group "compute.unikorn-cloud.org" in the namespace "` + namespace + `"`))
}

// expectReview checks that the cluster, asked for its opinion, has the same.
func expectReview(ctx context.Context, person, namespace string, may rights) {
	GinkgoHelper()
	reviews := ClientOf(environment.Admin).AuthorizationV1().SubjectAccessReviews()
	for _, q := range questions {
		verb, subresource, _ := strings.Cut(q.right, " ")
		review, err := reviews.Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: person,
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Group: "compute.unikorn-cloud.org", Resource: "instances", Subresource: subresource, Namespace: namespace, Verb: verb,
			},
		}}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(review.Status.Allowed).To(Equal(may.Has(q.right)), "%s in %s: %s", person, namespace, q.right)
	}
}

// grantReading lets the reader get, list and watch whatever there is, until the
// group of specs ends.
func grantReading(ctx context.Context) {
	GinkgoHelper()
	admin := ClientOf(environment.Admin).RbacV1()
	_, err := admin.ClusterRoles().Create(ctx, &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: reader},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{rbacv1.APIGroupAll}, Resources: []string{rbacv1.ResourceAll}, Verbs: []string{"get", "list", "watch"},
		}},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		Expect(admin.ClusterRoles().Delete(ctx, reader, metav1.DeleteOptions{})).To(Succeed())
	})
	_, err = admin.ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: reader},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: reader},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: reader}},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		Expect(admin.ClusterRoleBindings().Delete(ctx, reader, metav1.DeleteOptions{})).To(Succeed())
	})
	as := newcomer(reader)
	Eventually(func() error {
		_, err := InstancesFor(as).ComputeV1beta1().Instances(Alpha).List(ctx, metav1.ListOptions{})
		return err
	}).WithContext(ctx).Should(Succeed())
}
