// SPDX-License-Identifier: Apache-2.0

package platform

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
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

var _ = Describe("References of a new Instance", func() {
	DescribeTable("that do not fit are 422 with their field, whoever may see them",
		func(ctx SpecContext, person, cause, says string, edits ...func(*v1beta1.Instance)) {
			err := CreateIn(ctx, person, Alpha, NewInstance("web-1", edits...))
			Expect(err).To(BeInvalidFor(cause))
			Expect(err).To(MatchError(ContainSubstring(says)))
			Expect(Get(ctx, "web-1")).To(BeNil())
			Expect(Charged(ctx)).To(BeEmpty())
		},
		Entry("a security group of another network", environment.AlphaEditor, NotFoundAt(GroupField), string(Alpha2Group), Behind(Alpha2Group)),
		Entry("a security group of another project", environment.AlphaBetaEditor, NotFoundAt(GroupField), string(BetaGroup), Behind(BetaGroup)),
		Entry("a security group of another organization", InBothOrganizations, NotFoundAt(GroupField), string(GammaGroup), Behind(GammaGroup)),
		Entry("the second of two security groups", environment.AlphaBetaEditor,
			NotFoundAt("spec.networking.securityGroupIDs[1]"), string(BetaGroup), Behind(AlphaGroup, BetaGroup)),
		Entry("an authority of another project", environment.AlphaBetaEditor, NotFoundAt(AuthorityField), string(BetaAuthority), Trusting(BetaAuthority)),
		Entry("an authority of another organization", InBothOrganizations, NotFoundAt(AuthorityField), string(GammaAuthority), Trusting(GammaAuthority)),
		Entry("a flavor that is nowhere", environment.AlphaEditor, NotFoundAt(FlavorField), string(MissingFlavor), Sized(MissingFlavor)),
		Entry("a flavor for pinned machines only", environment.AlphaEditor, InvalidAt(FlavorField), "pinned", Sized(world.FlavorPinned)),
		Entry("an image that is nowhere", environment.AlphaEditor, NotFoundAt(ImageField), string(MissingImage), Booting(MissingImage)),
		Entry("an image that is not ready", environment.AlphaEditor, NotFoundAt(ImageField), string(world.ImagePending), Booting(world.ImagePending)),
		Entry("an image of another organization", environment.AlphaEditor, NotFoundAt(ImageField), string(world.ImageOwned), Booting(world.ImageOwned)),
		Entry("an image of another organization that the person is in as well", InBothOrganizations,
			NotFoundAt(ImageField), string(world.ImageOwned), Booting(world.ImageOwned)),
		Entry("an ARM image on an x86 flavor", environment.AlphaEditor, InvalidAt(ImageField),
			"is for architecture aarch64, the flavor has x86_64", Booting(world.ImageARM)),
		Entry("an x86 image on an ARM flavor", environment.AlphaEditor, InvalidAt(ImageField),
			"is for architecture x86_64, the flavor has aarch64", Sized(world.FlavorARM)),
		Entry("an image too big for the flavor's disk", environment.AlphaEditor, InvalidAt(ImageField), "needs a disk of 20", Sized(world.FlavorTiny)),
		Entry("a bare metal image on a virtualized flavor", environment.AlphaEditor, InvalidAt(ImageField),
			"is for bare metal, the flavor is virtualized", Booting(world.ImageMetal)),
		Entry("an image for virtual machines on a bare metal flavor", environment.AlphaEditor, InvalidAt(ImageField),
			"is for virtual machines, the flavor is bare metal", Sized(world.FlavorMetal)),
	)

	DescribeTable("that fit are accepted by the API and by the platform",
		func(ctx SpecContext, person, namespace string, edits ...func(*v1beta1.Instance)) {
			_, err := Instances(person, namespace).Create(ctx, NewInstance("web-1", edits...), metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
			Eventually(Machines).WithContext(ctx).Should(Equal([]string{"web-1"}))
		},
		Entry("an image that is left out of the curated list, for its software versions", environment.AlphaEditor, Alpha, Booting(world.ImageUbuntu)),
		Entry("an image for any machine on a virtualized flavor", environment.AlphaEditor, Alpha, Booting(world.ImageAny)),
		Entry("an image for any machine on a bare metal flavor", environment.AlphaEditor, Alpha, Booting(world.ImageAny), Sized(world.FlavorMetal)),
		Entry("an ARM image on an ARM flavor", environment.AlphaEditor, Alpha, Booting(world.ImageARM), Sized(world.FlavorARM)),
		Entry("a bare metal image on a bare metal flavor", environment.AlphaEditor, Alpha, Booting(world.ImageMetal), Sized(world.FlavorMetal)),
		Entry("an image that its own organization uses", environment.AlphaGammaEditor, Gamma, On(GammaNet), Booting(world.ImageOwned)),
	)

	It("reach the machine as they are", func(ctx SpecContext) {
		Create(ctx, "web-1", Behind(AlphaGroup), Trusting(AlphaAuthority), func(instance *v1beta1.Instance) {
			instance.Spec.Networking.PublicIP = true
			instance.Spec.Networking.AllowedSourceAddresses = []string{"10.1.0.0/24"}
		})
		AwaitRunning(ctx, "web-1")
		servers, err := Simulator().Servers(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(servers).To(HaveLen(1))
		Expect(servers[0].Spec.FlavorID).To(Equal(Standard))
		Expect(servers[0].Spec.ImageID).To(Equal(Ubuntu))
		Expect(*servers[0].Spec.Networking).To(Equal(region.ServerNetworking{
			SecurityGroups: []ids.SecurityGroupID{AlphaGroup}, PublicIP: true, AllowedSourceAddresses: []string{"10.1.0.0/24"},
		}))
		Expect(servers[0].Status.NetworkID).To(Equal(AlphaNet))
		Expect(servers[0].Status.SSHCertificateAuthorityID).To(Equal(AlphaAuthority))
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
				err := CreateIn(ctx, person, Alpha, NewInstance("web-1", of.refer(id)))
				Expect(err).To(BeInvalidFor(of.cause), person)
				return WithoutIDs(err, id)
			}
			want := answer(environment.AlphaEditor, of.missing)
			for person, id := range of.others {
				Expect(answer(person, id)).To(Equal(want), "%s who may see %s", person, id)
				Expect(answer(person, of.missing)).To(Equal(want), "%s about what is missing", person)
				Expect(answer(environment.AlphaEditor, id)).To(Equal(want), "%s who may not see %s", environment.AlphaEditor, id)
				Expect(answer(environment.Admin, id)).To(Equal(want), "an operator of the platform about %s", id)
			}
			Expect(Charged(ctx)).To(BeEmpty())
		},
		Entry("about a network", foreign{
			cause: NotFoundAt(NetworkField), missing: string(MissingNetwork),
			refer:  func(id string) func(*v1beta1.Instance) { return On(ids.NetworkID(id)) },
			others: map[string]string{environment.AlphaBetaEditor: string(BetaNet), environment.AlphaGammaEditor: string(GammaNet), InBothOrganizations: string(GammaNet)},
		}),
		Entry("about a security group", foreign{
			cause: NotFoundAt(GroupField), missing: string(MissingGroup),
			refer: func(id string) func(*v1beta1.Instance) { return Behind(ids.SecurityGroupID(id)) },
			others: map[string]string{
				environment.AlphaEditor: string(Alpha2Group), environment.AlphaBetaEditor: string(BetaGroup), environment.AlphaGammaEditor: string(GammaGroup),
				InBothOrganizations: string(GammaGroup),
			},
		}),
		Entry("about an authority", foreign{
			cause: NotFoundAt(AuthorityField), missing: string(MissingAuthority),
			refer:  func(id string) func(*v1beta1.Instance) { return Trusting(ids.SSHCertificateAuthorityID(id)) },
			others: map[string]string{environment.AlphaBetaEditor: string(BetaAuthority), environment.AlphaGammaEditor: string(GammaAuthority), InBothOrganizations: string(GammaAuthority)},
		}),
		Entry("about an image", foreign{
			cause: NotFoundAt(ImageField), missing: string(MissingImage),
			refer:  func(id string) func(*v1beta1.Instance) { return Booting(ids.ImageID(id)) },
			others: map[string]string{InBothOrganizations: string(world.ImageOwned), environment.AlphaEditor: string(world.ImagePending)},
		}),
	)

	It("about all of them at once: five causes", func(ctx SpecContext) {
		five := []string{NotFoundAt(NetworkField), NotFoundAt(FlavorField), NotFoundAt(ImageField), NotFoundAt(AuthorityField), NotFoundAt(GroupField)}
		all := func(person string, network ids.NetworkID, image ids.ImageID, authority ids.SSHCertificateAuthorityID, group ids.SecurityGroupID) string {
			err := CreateIn(ctx, person, Alpha, NewInstance("web-1", On(network), Sized(MissingFlavor), Booting(image), Trusting(authority), Behind(group)))
			Expect(err).To(BeInvalidFor(five...), person)
			return WithoutIDs(err, string(network), string(image), string(authority), string(group))
		}
		missing := all(environment.AlphaEditor, MissingNetwork, MissingImage, MissingAuthority, MissingGroup)
		Expect(all(environment.AlphaBetaEditor, BetaNet, world.ImagePending, BetaAuthority, BetaGroup)).To(Equal(missing))
		Expect(all(InBothOrganizations, GammaNet, world.ImageOwned, GammaAuthority, GammaGroup)).To(Equal(missing))
		Expect(all(environment.AlphaGammaEditor, GammaNet, world.ImageOwned, GammaAuthority, GammaGroup)).To(Equal(missing))
		Expect(all(environment.Admin, GammaNet, world.ImageOwned, GammaAuthority, GammaGroup)).To(Equal(missing))
		Expect(Charged(ctx)).To(BeEmpty())
	})
})

var _ = Describe("A create whose form is wrong", Serial, func() {
	It("learns of all that is wrong with it, and nobody is asked about references", func(ctx SpecContext) {
		ForgetRequests(ctx)
		wrong := NewInstance("web-1", On("net-1"), Sized(MissingFlavor), Booting("image"), Trusting(BetaAuthority), Behind(BetaGroup, "group"),
			Called("-web"), Started([]byte("hello")))
		wrong.Spec.Networking.AllowedSourceAddresses = []string{"10.1.0.7/24"}
		wrong.Spec.Tags = []v1beta1.Tag{{Name: "compute.unikorn-cloud.org:x"}}
		Expect(CreateIn(ctx, environment.AlphaEditor, Alpha, wrong)).To(BeInvalidFor(
			InvalidAt(NetworkField), InvalidAt(ImageField), InvalidAt("spec.networking.securityGroupIDs[1]"), InvalidAt("spec.name"),
			InvalidAt(UserDataField), InvalidAt("spec.networking.allowedSourceAddresses[0]"), InvalidAt("spec.tags[0].name")))
		Expect(Asked(ctx)).To(BeEmpty())
	})
})

// lookups are requests to region that were made for one create or update.
type lookups []requestlog.Entry

// of are those of some kinds.
func (l lookups) of(kinds ...string) lookups {
	return slices.DeleteFunc(slices.Clone(l), func(request requestlog.Entry) bool {
		kind, _, _ := strings.Cut(ShortPath(request.Path), "/")
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
		WithSettings(ctx, func(s *settings.Settings) { s.RegionLatencyMillis = 1000 })
		ForgetRequests(ctx)
		_, err := InAlpha().Create(ctx, NewInstance("web-1", Behind(AlphaGroup, Alpha2Group), Trusting(AlphaAuthority)), metav1.CreateOptions{DryRun: DryRun})
		Expect(err).To(BeInvalidFor(NotFoundAt("spec.networking.securityGroupIDs[1]")))

		Expect(Asked(ctx)).To(ConsistOf(
			"region GET networks/"+string(AlphaNet), "region GET securitygroups/"+string(AlphaGroup), "region GET securitygroups/"+string(Alpha2Group),
			"region GET sshcertificateauthorities/"+string(AlphaAuthority), "region GET flavors", "region GET images"))
		made := lookups(RequestsIn(ctx, principal.FormA))
		Expect(made.of("networks", "securitygroups", "sshcertificateauthorities").together()).To(BeTrue(), "%v", made)
		Expect(made.of("flavors", "images").together()).To(BeTrue(), "%v", made)
		var total time.Duration
		for _, request := range made {
			total += endOf(request).Sub(request.StartedAt)
		}
		Expect(made.ended().Sub(made.began())).To(BeNumerically("<", total))
	})

	It("wait for nothing where the region of the network is remembered", func(ctx SpecContext) {
		wanted := NewInstance("web-1", Behind(AlphaGroup), Trusting(AlphaAuthority))
		try := func() {
			_, err := InAlpha().Create(ctx, wanted, metav1.CreateOptions{DryRun: DryRun})
			Expect(err).NotTo(HaveOccurred())
		}
		WithSettings(ctx, func(s *settings.Settings) { s.RegionLatencyMillis = 1000 })
		// Each server has to see the network once.
		Eventually(func(g Gomega) {
			ForgetRequests(ctx)
			try()
			made := lookups(RequestsIn(ctx, principal.FormA))
			g.Expect(made).To(HaveLen(5))
			g.Expect(made.together()).To(BeTrue(), "%v", made)
		}).WithContext(ctx).Should(Succeed())
	})

	It("ask for the images that are ready and available to the organization, curated or not", func(ctx SpecContext) {
		ForgetRequests(ctx)
		Create(ctx, "web-1")
		var queries []string
		for _, request := range RequestsIn(ctx, principal.FormA) {
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
