// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"context"
	"net/http"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/acl"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/requestlog"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

// validationReads are the kinds of things that a person must be allowed to see
// in order to refer to them.
var validationReads = []string{"networks", "flavors", "images", "securitygroups", "sshcertificateauthorities"}

// isValidation tells whether a request reads what an Instance refers to. All
// others are about servers and allocations.
func isValidation(request requestlog.Entry) bool {
	kind, _, _ := strings.Cut(ShortPath(request.Path), "/")
	return request.Method == http.MethodGet && slices.Contains(validationReads, kind)
}

// inAlphaAs is a principal in project alpha of one organization.
func inAlphaAs(kind principal.Type, actor string) principal.Principal {
	return principal.Principal{
		OrganizationID: world.Acme, OrganizationIDs: []ids.OrganizationID{world.Acme}, ProjectID: world.Alpha, Type: kind, Actor: actor,
	}
}

// expectSentFor checks that what the API server asked since requests were
// forgotten was asked for who, and with whose rights: with theirs to see what
// may be referred to, with the service's otherwise.
func expectSentFor(ctx context.Context, who principal.Principal, impersonated bool) {
	GinkgoHelper()
	requests := RequestsIn(ctx, principal.FormA)
	Expect(requests).NotTo(BeEmpty())
	for _, request := range requests {
		line := request.Service + " " + request.Method + " " + request.Path
		Expect(PrincipalOf(request)).To(Equal(who), line)
		Expect(request.Impersonate).To(Equal(impersonated && isValidation(request)), line)
	}
}

var _ = Describe("The platform is told for whom it is asked", Serial, func() {
	everything := func(instance *v1beta1.Instance) {
		Behind(AlphaGroup)(instance)
		Trusting(AlphaAuthority)(instance)
	}

	It("by the API server: the person, with the person's rights for what is referred to, with its own for the rest", func(ctx SpecContext) {
		person := inAlphaAs(principal.TypeUser, environment.AlphaEditor)
		ForgetRequests(ctx)
		Create(ctx, "web-1", everything)
		expectSentFor(ctx, person, true)
		Expect(Asked(ctx)).To(ConsistOf(
			"region GET networks/"+string(AlphaNet), "region GET securitygroups/"+string(AlphaGroup),
			"region GET sshcertificateauthorities/"+string(AlphaAuthority), "region GET flavors", "region GET images",
			"identity POST allocations"))

		AwaitRunning(ctx, "web-1")
		ForgetRequests(ctx)
		_, err := Merge(ctx, environment.AlphaEditor, "web-1", `{"spec":{"networking":{"publicIP":true}}}`)
		Expect(err).NotTo(HaveOccurred())
		expectSentFor(ctx, person, true)
		Expect(Asked(ctx)).To(ContainElement(HavePrefix("identity PUT allocations/")))

		ForgetRequests(ctx)
		_, err = InAlpha().CreatePower(ctx, "web-1", &v1beta1.InstancePower{Spec: v1beta1.InstancePowerSpec{Action: v1beta1.PowerActionStop}}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		expectSentFor(ctx, person, true)
		Expect(Asked(ctx)).To(ContainElements(
			"region GET networks/"+string(AlphaNet), "region GET servers", HaveSuffix("/stop")))

		ForgetRequests(ctx)
		AsEditor(ctx, "delete", "inst", "web-1")
		Expect(Asked(ctx)).To(BeEmpty(), "a deletion is the controller's work")
	})

	It("by the controller: the creator, signed, with nobody else's rights", func(ctx SpecContext) {
		ForgetRequests(ctx)
		Create(ctx, "web-1", everything)
		AwaitRunning(ctx, "web-1")
		_, err := Merge(ctx, environment.AlphaBetaEditor, "web-1", `{"spec":{"networking":{"publicIP":true}}}`)
		Expect(err).NotTo(HaveOccurred())
		Eventually(func() string { return Get(ctx, "web-1").Status.PublicIP }).WithContext(ctx).ShouldNot(BeEmpty())
		AsEditor(ctx, "delete", "inst", "web-1")

		requests := RequestsIn(ctx, principal.FormB)
		lines := []string{}
		for _, request := range requests {
			lines = append(lines, request.Service+" "+request.Method+" "+ShortPath(request.Path))
			Expect(request.Impersonate).To(BeFalse(), request.Path)
			Expect(PrincipalOf(request)).To(Equal(principal.Principal{
				OrganizationID: world.Acme, ProjectID: world.Alpha, Actor: environment.AlphaEditor,
			}), request.Path)
		}
		Expect(lines).To(ContainElements("region POST servers", HavePrefix("region PUT servers/"), HavePrefix("region DELETE servers/"),
			HavePrefix("identity DELETE allocations/")))
	})
})

func inOrganizations(organizations ...ids.OrganizationID) map[string][]string {
	values := []string{}
	for _, organization := range organizations {
		values = append(values, string(organization))
	}
	return map[string][]string{principal.OrganizationIDsExtra: values}
}

var _ = Describe("A person", Serial, func() {
	createAs := func(ctx context.Context, who rest.ImpersonationConfig) error {
		_, err := InstancesFor(Somebody(who)).ComputeV1beta1().Instances(Alpha).Create(ctx, NewInstance("web-1"), metav1.CreateOptions{})
		return err
	}

	It("is in all organizations that the authenticator says, each once", func(ctx SpecContext) {
		ForgetRequests(ctx)
		Expect(createAs(ctx, rest.ImpersonationConfig{
			UserName: environment.AlphaGammaEditor, Extra: inOrganizations(world.Umbrella, world.Acme, world.Umbrella),
		})).To(Succeed())
		both := inAlphaAs(principal.TypeUser, environment.AlphaGammaEditor)
		both.OrganizationIDs = []ids.OrganizationID{world.Acme, world.Umbrella}
		expectSentFor(ctx, both, true)
	})

	It("is in the namespace's organization when the authenticator says nothing", func(ctx SpecContext) {
		ForgetRequests(ctx)
		Expect(createAs(ctx, rest.ImpersonationConfig{UserName: environment.AlphaGammaEditor})).To(Succeed())
		expectSentFor(ctx, inAlphaAs(principal.TypeUser, environment.AlphaGammaEditor), true)
	})

	It("who is not in the namespace's organization gets 403, and nobody is asked", func(ctx SpecContext) {
		ForgetRequests(ctx)
		err := createAs(ctx, rest.ImpersonationConfig{UserName: environment.AlphaGammaEditor, Extra: inOrganizations(world.Umbrella)})
		Expect(err).To(BeRefused(403, metav1.StatusReasonForbidden))
		Expect(err).To(MatchError(ContainSubstring("organization")))
		Expect(Asked(ctx)).To(BeEmpty())
	})

	It("whom the platform gives no rights in the project sees nothing to refer to", func(ctx SpecContext) {
		GrantEdit(ctx, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "newcomer"}, Somebody(rest.ImpersonationConfig{UserName: "newcomer"}))
		Expect(createAs(ctx, rest.ImpersonationConfig{UserName: "newcomer"})).To(BeInvalidFor(NotFoundAt(NetworkField)))
		Expect(Charged(ctx)).To(BeEmpty())
	})
})

var _ = Describe("A service account", Serial, func() {
	const robot = "system:serviceaccount:alpha:robot"

	It("is a service of the namespace's organization alone", func(ctx SpecContext) {
		Expect(Simulator().SetRoles(ctx, robot, map[ids.ProjectID]acl.Role{world.Alpha: acl.RoleEditor})).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(Simulator().SetRoles(ctx, robot, nil)).To(Succeed()) })
		client := InstancesFor(ServiceAccount(ctx, "robot")).ComputeV1beta1().Instances(Alpha)
		ForgetRequests(ctx)
		created, err := client.Create(ctx, NewInstance("web-1", Behind(AlphaGroup), Trusting(AlphaAuthority)), metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		expectSentFor(ctx, inAlphaAs(principal.TypeService, robot), true)
		Expect(created.Annotations).To(And(
			HaveKeyWithValue("unikorn-cloud.org/creator", robot), HaveKeyWithValue("principal.unikorn-cloud.org/creator", robot)))
		AwaitRunning(ctx, "web-1")
	})

	It("that the platform does not know sees nothing to refer to, and may do what asks nobody", func(ctx SpecContext) {
		client := InstancesFor(ServiceAccount(ctx, "robot")).ComputeV1beta1().Instances(Alpha)
		ForgetRequests(ctx)
		_, err := client.Create(ctx, NewInstance("web-1"), metav1.CreateOptions{})
		Expect(err).To(BeInvalidFor(NotFoundAt(NetworkField)))
		for _, request := range RequestsIn(ctx, principal.FormA) {
			Expect(PrincipalOf(request)).To(Equal(inAlphaAs(principal.TypeService, robot)))
			Expect(request.Impersonate).To(BeTrue())
		}
		Create(ctx, "web-1")
		labelled, err := client.Patch(ctx, "web-1", types.MergePatchType, []byte(`{"metadata":{"labels":{"team":"blue"}}}`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(labelled.Labels).To(HaveKeyWithValue("team", "blue"))
	})
})

var _ = Describe("An operator of the platform, whom identity does not know,", Serial, func() {
	It("refers to things with the rights of the service", func(ctx SpecContext) {
		ForgetRequests(ctx)
		Expect(CreateIn(ctx, environment.Admin, Alpha, NewInstance("web-1", Behind(AlphaGroup), Trusting(AlphaAuthority)))).To(Succeed())
		expectSentFor(ctx, inAlphaAs(principal.TypeService, environment.Admin), false)
	})

	It("is one by a group, whatever the name", func(ctx SpecContext) {
		ForgetRequests(ctx)
		client := InstancesFor(Somebody(rest.ImpersonationConfig{UserName: "system:keeper", Groups: []string{"system:masters"}}))
		_, err := client.ComputeV1beta1().Instances(Alpha).Create(ctx, NewInstance("web-1"), metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		expectSentFor(ctx, inAlphaAs(principal.TypeService, "system:keeper"), false)
	})

	It("cannot refer to what is foreign to the namespace, though the service sees it", func(ctx SpecContext) {
		ForgetRequests(ctx)
		Expect(CreateIn(ctx, environment.Admin, Alpha, NewInstance("web-1", On(GammaNet), Behind(GammaGroup), Trusting(GammaAuthority)))).
			To(BeInvalidFor(NotFoundAt(NetworkField), NotFoundAt(GroupField), NotFoundAt(AuthorityField)))
		seen := lookups(RequestsIn(ctx, principal.FormA)).of("networks", "securitygroups", "sshcertificateauthorities")
		Expect(seen).To(And(HaveLen(3), HaveEach(HaveField("Status", http.StatusOK))), "region shows them")
		Expect(Charged(ctx)).To(BeEmpty())
	})
})

var _ = Describe("A user of the cluster who is neither a person nor a service account nor an operator", Serial, func() {
	const custodian = "system:custodian"

	It("gets 403 saying what can be done, and may do what asks nobody", func(ctx SpecContext) {
		config := Somebody(rest.ImpersonationConfig{UserName: custodian})
		GrantEdit(ctx, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: custodian}, config)
		client := InstancesFor(config).ComputeV1beta1().Instances(Alpha)
		Create(ctx, "web-1")
		AwaitRunning(ctx, "web-1")

		ForgetRequests(ctx)
		_, creating := client.Create(ctx, NewInstance("web-2"), metav1.CreateOptions{})
		_, updating := client.Patch(ctx, "web-1", types.MergePatchType, []byte(`{"spec":{"paused":true}}`), metav1.PatchOptions{})
		for _, err := range []error{creating, updating} {
			Expect(err).To(BeRefused(403, metav1.StatusReasonForbidden))
			Expect(err).To(MatchError(And(ContainSubstring(custodian), ContainSubstring("--platform-groups"))))
		}
		_, err := client.Get(ctx, "web-1", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		_, err = client.Patch(ctx, "web-1", types.MergePatchType, []byte(`{"metadata":{"labels":{"team":"blue"}}}`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(client.Delete(ctx, "web-1", metav1.DeleteOptions{})).To(Succeed())
		Expect(Asked(ctx)).To(BeEmpty())
	})
})
