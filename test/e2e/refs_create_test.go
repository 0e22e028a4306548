// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/url"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/requestlog"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/settings"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
)

var _ = Describe("References of a new Instance", func() {
	DescribeTable("that do not fit are 422 with their field, whoever may see them",
		func(ctx SpecContext, person, cause, says string, edits ...func(*v1beta1.Instance)) {
			err := createIn(ctx, person, alpha, newInstance("web-1", edits...))
			Expect(err).To(beInvalidFor(cause))
			Expect(err).To(MatchError(ContainSubstring(says)))
			Expect(get(ctx, "web-1")).To(BeNil())
			Expect(charged(ctx)).To(BeEmpty())
		},
		Entry("a security group of another network", environment.AlphaEditor, notFoundAt(groupField), string(alpha2Group), behind(alpha2Group)),
		Entry("a security group of another project", environment.AlphaBetaEditor, notFoundAt(groupField), string(betaGroup), behind(betaGroup)),
		Entry("a security group of another organization", inBothOrganizations, notFoundAt(groupField), string(gammaGroup), behind(gammaGroup)),
		Entry("the second of two security groups", environment.AlphaBetaEditor,
			notFoundAt("spec.networking.securityGroupIDs[1]"), string(betaGroup), behind(alphaGroup, betaGroup)),
		Entry("an authority of another project", environment.AlphaBetaEditor, notFoundAt(authorityField), string(betaAuthority), trusting(betaAuthority)),
		Entry("an authority of another organization", inBothOrganizations, notFoundAt(authorityField), string(gammaAuthority), trusting(gammaAuthority)),
		Entry("a flavor that is nowhere", environment.AlphaEditor, notFoundAt(flavorField), string(missingFlavor), sized(missingFlavor)),
		Entry("a flavor for pinned machines only", environment.AlphaEditor, invalidAt(flavorField), "pinned", sized(world.FlavorPinned)),
		Entry("an image that is nowhere", environment.AlphaEditor, notFoundAt(imageField), string(missingImage), booting(missingImage)),
		Entry("an image that is not ready", environment.AlphaEditor, notFoundAt(imageField), string(world.ImagePending), booting(world.ImagePending)),
		Entry("an image of another organization", environment.AlphaEditor, notFoundAt(imageField), string(world.ImageOwned), booting(world.ImageOwned)),
		Entry("an image of another organization that the person is in as well", inBothOrganizations,
			notFoundAt(imageField), string(world.ImageOwned), booting(world.ImageOwned)),
		Entry("an ARM image on an x86 flavor", environment.AlphaEditor, invalidAt(imageField),
			"is for architecture aarch64, the flavor has x86_64", booting(world.ImageARM)),
		Entry("an x86 image on an ARM flavor", environment.AlphaEditor, invalidAt(imageField),
			"is for architecture x86_64, the flavor has aarch64", sized(world.FlavorARM)),
		Entry("an image too big for the flavor's disk", environment.AlphaEditor, invalidAt(imageField), "needs a disk of 20", sized(world.FlavorTiny)),
		Entry("a bare metal image on a virtualized flavor", environment.AlphaEditor, invalidAt(imageField),
			"is for bare metal, the flavor is virtualized", booting(world.ImageMetal)),
		Entry("an image for virtual machines on a bare metal flavor", environment.AlphaEditor, invalidAt(imageField),
			"is for virtual machines, the flavor is bare metal", sized(world.FlavorMetal)),
	)

	DescribeTable("that fit are accepted by the API and by the platform",
		func(ctx SpecContext, person, namespace string, edits ...func(*v1beta1.Instance)) {
			_, err := instances(person, namespace).Create(ctx, newInstance("web-1", edits...), metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
			Eventually(machines).WithContext(ctx).Should(Equal([]string{"web-1"}))
		},
		Entry("an image that is left out of the curated list, for its software versions", environment.AlphaEditor, alpha, booting(world.ImageUbuntu)),
		Entry("an image for any machine on a virtualized flavor", environment.AlphaEditor, alpha, booting(world.ImageAny)),
		Entry("an image for any machine on a bare metal flavor", environment.AlphaEditor, alpha, booting(world.ImageAny), sized(world.FlavorMetal)),
		Entry("an ARM image on an ARM flavor", environment.AlphaEditor, alpha, booting(world.ImageARM), sized(world.FlavorARM)),
		Entry("a bare metal image on a bare metal flavor", environment.AlphaEditor, alpha, booting(world.ImageMetal), sized(world.FlavorMetal)),
		Entry("an image that its own organization uses", environment.AlphaGammaEditor, gamma, on(gammaNet), booting(world.ImageOwned)),
	)

	It("reach the machine as they are", func(ctx SpecContext) {
		create(ctx, "web-1", behind(alphaGroup), trusting(alphaAuthority), func(instance *v1beta1.Instance) {
			instance.Spec.Networking.PublicIP = true
			instance.Spec.Networking.AllowedSourceAddresses = []string{"10.1.0.0/24"}
		})
		awaitRunning(ctx, "web-1")
		servers, err := simulator().Servers(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(servers).To(HaveLen(1))
		Expect(servers[0].Spec.FlavorID).To(Equal(standard))
		Expect(servers[0].Spec.ImageID).To(Equal(ubuntu))
		Expect(*servers[0].Spec.Networking).To(Equal(region.ServerNetworking{
			SecurityGroups: []ids.SecurityGroupID{alphaGroup}, PublicIP: true, AllowedSourceAddresses: []string{"10.1.0.0/24"},
		}))
		Expect(servers[0].Status.NetworkID).To(Equal(alphaNet))
		Expect(servers[0].Status.SSHCertificateAuthorityID).To(Equal(alphaAuthority))
	})
})

// foreign are references of one kind to what is somebody else's, and to what is
// nowhere.
type foreign struct {
	cause string
	// missing is nowhere.
	missing string
	refer   func(id string) func(*v1beta1.Instance)
	// others are ids by a person who may see what has the id.
	others map[string]string
}

var _ = Describe("What is foreign and what does not exist are one and the same answer", func() {
	DescribeTable("whoever asks",
		func(ctx SpecContext, of foreign) {
			answer := func(person, id string) string {
				err := createIn(ctx, person, alpha, newInstance("web-1", of.refer(id)))
				Expect(err).To(beInvalidFor(of.cause), person)
				return withoutIDs(err, id)
			}
			want := answer(environment.AlphaEditor, of.missing)
			for person, id := range of.others {
				Expect(answer(person, id)).To(Equal(want), "%s who may see %s", person, id)
				Expect(answer(person, of.missing)).To(Equal(want), "%s about what is missing", person)
				Expect(answer(environment.AlphaEditor, id)).To(Equal(want), "%s who may not see %s", environment.AlphaEditor, id)
				Expect(answer(environment.Admin, id)).To(Equal(want), "an operator of the platform about %s", id)
			}
			Expect(charged(ctx)).To(BeEmpty())
		},
		Entry("about a network", foreign{
			cause: notFoundAt(networkField), missing: string(missingNetwork),
			refer:  func(id string) func(*v1beta1.Instance) { return on(ids.NetworkID(id)) },
			others: map[string]string{environment.AlphaBetaEditor: string(betaNet), environment.AlphaGammaEditor: string(gammaNet), inBothOrganizations: string(gammaNet)},
		}),
		Entry("about a security group", foreign{
			cause: notFoundAt(groupField), missing: string(missingGroup),
			refer: func(id string) func(*v1beta1.Instance) { return behind(ids.SecurityGroupID(id)) },
			others: map[string]string{
				environment.AlphaEditor: string(alpha2Group), environment.AlphaBetaEditor: string(betaGroup), environment.AlphaGammaEditor: string(gammaGroup),
				inBothOrganizations: string(gammaGroup),
			},
		}),
		Entry("about an authority", foreign{
			cause: notFoundAt(authorityField), missing: string(missingAuthority),
			refer:  func(id string) func(*v1beta1.Instance) { return trusting(ids.SSHCertificateAuthorityID(id)) },
			others: map[string]string{environment.AlphaBetaEditor: string(betaAuthority), environment.AlphaGammaEditor: string(gammaAuthority), inBothOrganizations: string(gammaAuthority)},
		}),
		Entry("about an image", foreign{
			cause: notFoundAt(imageField), missing: string(missingImage),
			refer:  func(id string) func(*v1beta1.Instance) { return booting(ids.ImageID(id)) },
			others: map[string]string{inBothOrganizations: string(world.ImageOwned), environment.AlphaEditor: string(world.ImagePending)},
		}),
	)

	It("about all of them at once: five causes", func(ctx SpecContext) {
		five := []string{notFoundAt(networkField), notFoundAt(flavorField), notFoundAt(imageField), notFoundAt(authorityField), notFoundAt(groupField)}
		all := func(person string, network ids.NetworkID, image ids.ImageID, authority ids.SSHCertificateAuthorityID, group ids.SecurityGroupID) string {
			err := createIn(ctx, person, alpha, newInstance("web-1", on(network), sized(missingFlavor), booting(image), trusting(authority), behind(group)))
			Expect(err).To(beInvalidFor(five...), person)
			return withoutIDs(err, string(network), string(image), string(authority), string(group))
		}
		missing := all(environment.AlphaEditor, missingNetwork, missingImage, missingAuthority, missingGroup)
		Expect(all(environment.AlphaBetaEditor, betaNet, world.ImagePending, betaAuthority, betaGroup)).To(Equal(missing))
		Expect(all(inBothOrganizations, gammaNet, world.ImageOwned, gammaAuthority, gammaGroup)).To(Equal(missing))
		Expect(all(environment.AlphaGammaEditor, gammaNet, world.ImageOwned, gammaAuthority, gammaGroup)).To(Equal(missing))
		Expect(all(environment.Admin, gammaNet, world.ImageOwned, gammaAuthority, gammaGroup)).To(Equal(missing))
		Expect(charged(ctx)).To(BeEmpty())
	})
})

var _ = Describe("A create whose form is wrong", Serial, func() {
	It("learns of all that is wrong with it, and nobody is asked about references", func(ctx SpecContext) {
		forgetRequests(ctx)
		wrong := newInstance("web-1", on("net-1"), sized(missingFlavor), booting("image"), trusting(betaAuthority), behind(betaGroup, "group"),
			called("-web"), started([]byte("hello")))
		wrong.Spec.Networking.AllowedSourceAddresses = []string{"10.1.0.7/24"}
		wrong.Spec.Tags = []v1beta1.Tag{{Name: "compute.unikorn-cloud.org:x"}}
		Expect(createIn(ctx, environment.AlphaEditor, alpha, wrong)).To(beInvalidFor(
			invalidAt(networkField), invalidAt(imageField), invalidAt("spec.networking.securityGroupIDs[1]"), invalidAt("spec.name"),
			invalidAt(userDataField), invalidAt("spec.networking.allowedSourceAddresses[0]"), invalidAt("spec.tags[0].name")))
		Expect(asked(ctx)).To(BeEmpty())
	})
})

// lookups are requests to region that were made for one create or update.
type lookups []requestlog.Entry

// of are those of some kinds.
func (l lookups) of(kinds ...string) lookups {
	return slices.DeleteFunc(slices.Clone(l), func(request requestlog.Entry) bool {
		kind, _, _ := strings.Cut(shortPath(request.Path), "/")
		return !slices.Contains(kinds, kind)
	})
}

func endOf(request requestlog.Entry) time.Time {
	return request.StartedAt.Add(time.Duration(request.DurationMillis) * time.Millisecond)
}

// began and ended are when the first was sent and the last answered.
func (l lookups) began() time.Time {
	return slices.MinFunc(l, func(a, b requestlog.Entry) int { return a.StartedAt.Compare(b.StartedAt) }).StartedAt
}

func (l lookups) ended() time.Time {
	return endOf(slices.MaxFunc(l, func(a, b requestlog.Entry) int { return endOf(a).Compare(endOf(b)) }))
}

// together tells whether at one moment all of them were under way.
func (l lookups) together() bool {
	last := slices.MaxFunc(l, func(a, b requestlog.Entry) int { return a.StartedAt.Compare(b.StartedAt) }).StartedAt
	return !slices.ContainsFunc(l, func(request requestlog.Entry) bool { return endOf(request).Before(last) })
}

var _ = Describe("Look-ups of references", Serial, func() {
	It("are made all at once, each of them once", func(ctx SpecContext) {
		withSettings(ctx, func(s *settings.Settings) { s.RegionLatencyMillis = 1000 })
		forgetRequests(ctx)
		_, err := inAlpha().Create(ctx, newInstance("web-1", behind(alphaGroup, alpha2Group), trusting(alphaAuthority)), metav1.CreateOptions{DryRun: dryRun})
		Expect(err).To(beInvalidFor(notFoundAt("spec.networking.securityGroupIDs[1]")))

		Expect(asked(ctx)).To(ConsistOf(
			"region GET networks/"+string(alphaNet), "region GET securitygroups/"+string(alphaGroup), "region GET securitygroups/"+string(alpha2Group),
			"region GET sshcertificateauthorities/"+string(alphaAuthority), "region GET flavors", "region GET images"))
		made := lookups(requestsIn(ctx, principal.FormA))
		Expect(made.of("networks", "securitygroups", "sshcertificateauthorities").together()).To(BeTrue(), "%v", made)
		Expect(made.of("flavors", "images").together()).To(BeTrue(), "%v", made)
		var total time.Duration
		for _, request := range made {
			total += endOf(request).Sub(request.StartedAt)
		}
		Expect(made.ended().Sub(made.began())).To(BeNumerically("<", total))
	})

	It("wait for nothing where the region of the network is remembered", func(ctx SpecContext) {
		wanted := newInstance("web-1", behind(alphaGroup), trusting(alphaAuthority))
		try := func() {
			_, err := inAlpha().Create(ctx, wanted, metav1.CreateOptions{DryRun: dryRun})
			Expect(err).NotTo(HaveOccurred())
		}
		withSettings(ctx, func(s *settings.Settings) { s.RegionLatencyMillis = 1000 })
		// Each server has to see the network once.
		Eventually(func(g Gomega) {
			forgetRequests(ctx)
			try()
			made := lookups(requestsIn(ctx, principal.FormA))
			g.Expect(made).To(HaveLen(5))
			g.Expect(made.together()).To(BeTrue(), "%v", made)
		}).WithContext(ctx).Should(Succeed())
	})

	It("ask for the images that are ready and available to the organization, curated or not", func(ctx SpecContext) {
		forgetRequests(ctx)
		create(ctx, "web-1")
		var queries []string
		for _, request := range requestsIn(ctx, principal.FormA) {
			if strings.HasSuffix(request.Path, "/images") {
				queries = append(queries, request.Query)
			}
		}
		Expect(queries).To(HaveLen(1))
		query, err := url.ParseQuery(queries[0])
		Expect(err).NotTo(HaveOccurred())
		Expect(query).To(Equal(url.Values{"organizationID": {string(world.Acme)}, "scope": {"available"}, "status": {"ready"}}))
	})
})
