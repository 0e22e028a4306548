// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"context"
	"encoding/json"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/fault"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

// retired makes a list of the platform's catalogue empty until the spec ends,
// as if all that is in it were not offered any more.
func retired(catalogues ...string) []fault.Fault {
	var faults []fault.Fault
	for _, catalogue := range catalogues {
		faults = append(faults, fault.Fault{
			Service: "region", Path: "/" + catalogue + "$", Status: ptr.To(http.StatusOK), Body: json.RawMessage(`[]`),
		})
	}
	return faults
}

var _ = Describe("An update", Serial, Ordered, ContinueOnFailure, func() {
	dry := metav1.PatchOptions{DryRun: DryRun}

	BeforeAll(func(ctx SpecContext) {
		Create(ctx, "web-1", Behind(AlphaGroup), Trusting(AlphaAuthority))
		AwaitRunning(ctx, "web-1")
	})

	const (
		network   = "region GET networks/" + string(AlphaNet)
		group     = "region GET securitygroups/" + string(AlphaGroup)
		authority = "region GET sshcertificateauthorities/" + string(AlphaAuthority)
		flavors   = "region GET flavors"
		images    = "region GET images"
	)

	DescribeTable("looks up the network and what is attached, flavor and image when either changes, and nothing else",
		func(ctx SpecContext, patch string, want ...string) {
			ForgetRequests(ctx)
			_, err := Merge(ctx, environment.AlphaEditor, "web-1", patch, dry)
			Expect(err).NotTo(HaveOccurred())
			Expect(Asked(ctx)).To(ConsistOf(want))
		},
		Entry("of tags", `{"spec":{"tags":[{"name":"env","value":"prod"}]}}`, network, group, authority),
		Entry("of the public address", `{"spec":{"networking":{"publicIP":true}}}`, network, group, authority),
		Entry("of the pause", `{"spec":{"paused":true}}`, network, group, authority),
		Entry("of user data", `{"spec":{"userData":"IyEvYmluL3NoCg=="}}`, network, group, authority),
		Entry("of the flavor", `{"spec":{"flavorID":"`+string(Gpu)+`"}}`, network, group, authority, flavors, images),
		Entry("of the image", `{"spec":{"imageID":"`+string(Ubuntu2)+`"}}`, network, group, authority, flavors, images),
		Entry("that takes the authority off", `{"spec":{"sshCertificateAuthorityID":null}}`, network, group),
		Entry("that takes the security groups off", `{"spec":{"networking":{"securityGroupIDs":null}}}`, network, authority),
		Entry("that changes nothing", `{"spec":{"paused":false,"flavorID":"`+string(Standard)+`"}}`),
		Entry("of labels", `{"metadata":{"labels":{"team":"blue"}}}`),
		Entry("of annotations", `{"metadata":{"annotations":{"unikorn-cloud.org/description":"mine","example.com/x":"y"}}}`),
		Entry("of finalizers", `{"metadata":{"finalizers":["unikorn","example.com/hold"]}}`),
	)

	It("by a manifest as it was first sent is checked like any other", func(ctx SpecContext) {
		manifest := NewInstance("web-1", Behind(AlphaGroup), Trusting(AlphaAuthority), Booting(Ubuntu2))
		client := Hearing(environment.AlphaEditor)
		ForgetRequests(ctx)
		_, err := client.Update(ctx, manifest, metav1.UpdateOptions{DryRun: DryRun})
		Expect(err).NotTo(HaveOccurred())
		Expect(Asked(ctx)).To(ConsistOf(network, group, authority, flavors, images))
		Expect(client.Said()).To(ConsistOf(HavePrefix(ImageField)))

		Behind(BetaGroup)(manifest)
		_, err = client.Update(ctx, manifest, metav1.UpdateOptions{})
		Expect(err).To(BeInvalidFor(NotFoundAt(GroupField)))
	})

	It("of metadata alone asks nobody and works while the platform is down", func(ctx SpecContext) {
		WithFaults(ctx, fault.Fault{Status: ptr.To(http.StatusServiceUnavailable)})
		ForgetRequests(ctx)
		updated, err := Merge(ctx, environment.AlphaEditor, "web-1", `{"metadata":{"labels":{"team":"blue"},"annotations":{"example.com/x":"y"}}}`)
		Expect(err).NotTo(HaveOccurred())
		Expect(updated.Labels).To(HaveKeyWithValue("team", "blue"))
		replaced, err := InAlpha().Update(ctx, updated, metav1.UpdateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(replaced.ResourceVersion).To(Equal(updated.ResourceVersion))
		Expect(Asked(ctx)).To(BeEmpty())
	})

	DescribeTable("with a reference that does not fit is 422 with its field, whoever may see it",
		func(ctx SpecContext, person, patch string, causes ...string) {
			before := Get(ctx, "web-1")
			_, err := Merge(ctx, person, "web-1", patch)
			Expect(err).To(BeInvalidFor(causes...))
			Expect(Get(ctx, "web-1").Spec).To(Equal(before.Spec))
		},
		Entry("a security group of another network", environment.AlphaEditor,
			`{"spec":{"networking":{"securityGroupIDs":["`+string(Alpha2Group)+`"]}}}`, NotFoundAt(GroupField)),
		Entry("a security group of another project", environment.AlphaBetaEditor,
			`{"spec":{"networking":{"securityGroupIDs":["`+string(AlphaGroup)+`","`+string(BetaGroup)+`"]}}}`, NotFoundAt("spec.networking.securityGroupIDs[1]")),
		Entry("an authority of another project", environment.AlphaBetaEditor,
			`{"spec":{"sshCertificateAuthorityID":"`+string(BetaAuthority)+`"}}`, NotFoundAt(AuthorityField)),
		Entry("an authority of another organization", InBothOrganizations,
			`{"spec":{"sshCertificateAuthorityID":"`+string(GammaAuthority)+`"}}`, NotFoundAt(AuthorityField)),
		Entry("a flavor that is nowhere", environment.AlphaEditor, `{"spec":{"flavorID":"`+string(MissingFlavor)+`"}}`, NotFoundAt(FlavorField)),
		Entry("a flavor for pinned machines only", environment.AlphaEditor, `{"spec":{"flavorID":"`+string(world.FlavorPinned)+`"}}`, InvalidAt(FlavorField)),
		Entry("a flavor of another architecture", environment.AlphaEditor, `{"spec":{"flavorID":"`+string(world.FlavorARM)+`"}}`, InvalidAt(ImageField)),
		Entry("a flavor whose disk is too small", environment.AlphaEditor, `{"spec":{"flavorID":"`+string(world.FlavorTiny)+`"}}`, InvalidAt(ImageField)),
		Entry("a flavor of bare metal", environment.AlphaEditor, `{"spec":{"flavorID":"`+string(world.FlavorMetal)+`"}}`, InvalidAt(ImageField)),
		Entry("an image for bare metal", environment.AlphaEditor, `{"spec":{"imageID":"`+string(world.ImageMetal)+`"}}`, InvalidAt(ImageField)),
		Entry("an image that is not ready", environment.AlphaEditor, `{"spec":{"imageID":"`+string(world.ImagePending)+`"}}`, NotFoundAt(ImageField)),
		Entry("an image of another organization", InBothOrganizations, `{"spec":{"imageID":"`+string(world.ImageOwned)+`"}}`, NotFoundAt(ImageField)),
		Entry("four of them at once", environment.AlphaBetaEditor,
			`{"spec":{"flavorID":"`+string(MissingFlavor)+`","imageID":"`+string(MissingImage)+`","sshCertificateAuthorityID":"`+string(BetaAuthority)+
				`","networking":{"securityGroupIDs":["`+string(BetaGroup)+`"]}}}`,
			NotFoundAt(FlavorField), NotFoundAt(ImageField), NotFoundAt(AuthorityField), NotFoundAt(GroupField)),
	)

	It("whose form is wrong learns of that alone, and nobody is asked", func(ctx SpecContext) {
		ForgetRequests(ctx)
		_, err := Merge(ctx, environment.AlphaEditor, "web-1", `{"spec":{"name":"web-2","networkID":"`+string(AlphaNet2)+`","organizationID":"`+string(world.Umbrella)+
			`","projectID":"`+string(world.Beta)+`","flavorID":"`+string(MissingFlavor)+`","imageID":"image"}}`)
		Expect(err).To(BeInvalidFor(InvalidAt("spec.name"), InvalidAt(NetworkField), InvalidAt("spec.organizationID"), InvalidAt("spec.projectID"), InvalidAt(ImageField)))
		Expect(Asked(ctx)).To(BeEmpty())
	})

	DescribeTable("checks what was attached before, too, for the spec hands it on again",
		func(ctx SpecContext, path, cause string) {
			WithFaults(ctx, fault.Fault{Service: "region", Path: path, Status: ptr.To(http.StatusNotFound)})
			_, err := Merge(ctx, environment.AlphaEditor, "web-1", `{"spec":{"tags":[{"name":"env","value":"prod"}]}}`)
			Expect(err).To(BeInvalidFor(cause))
		},
		Entry("a security group that is gone", "securitygroups/"+string(AlphaGroup), NotFoundAt(GroupField)),
		Entry("an authority that is gone", "sshcertificateauthorities/"+string(AlphaAuthority), NotFoundAt(AuthorityField)),
	)

	Describe("of an Instance whose flavor and image are retired", func() {
		BeforeEach(func(ctx SpecContext) { WithFaults(ctx, retired("flavors", "images")...) })

		It("may change what does not concern them", func(ctx SpecContext) {
			tagged, err := Merge(ctx, environment.AlphaEditor, "web-1", `{"spec":{"tags":[{"name":"env","value":"prod"}]}}`)
			Expect(err).NotTo(HaveOccurred())
			Expect(tagged.Spec.Tags).To(HaveLen(1))
			_, err = Merge(ctx, environment.AlphaEditor, "web-1",
				`{"spec":{"networking":{"allowedSourceAddresses":["10.1.0.0/24"],"publicIP":true}}}`)
			Expect(err).NotTo(HaveOccurred())
			Eventually(func() string { return Get(ctx, "web-1").Status.PublicIP }).WithContext(ctx).ShouldNot(BeEmpty())
		})

		It("may not change them for what is retired as well", func(ctx SpecContext) {
			_, err := Merge(ctx, environment.AlphaEditor, "web-1", `{"spec":{"imageID":"`+string(Ubuntu2)+`"}}`)
			Expect(err).To(BeInvalidFor(NotFoundAt(ImageField)))
			_, err = Merge(ctx, environment.AlphaEditor, "web-1", `{"spec":{"flavorID":"`+string(Gpu)+`"}}`)
			Expect(err).To(BeInvalidFor(NotFoundAt(FlavorField), NotFoundAt(ImageField)))
		})
	})

	It("of an Instance whose flavor is retired may change the image", func(ctx SpecContext) {
		WithFaults(ctx, retired("flavors")...)
		_, err := Merge(ctx, environment.AlphaEditor, "web-1", `{"spec":{"imageID":"`+string(Ubuntu2)+`"}}`, dry)
		Expect(err).NotTo(HaveOccurred())
	})
})

var _ = Describe("Warnings", Ordered, ContinueOnFailure, func() {
	// warnedBy is what kubectl prints of a patch that succeeds with warnings.
	warnedBy := func(ctx context.Context, patch string) error {
		_, err := Env.Kubectl(ctx, environment.AlphaEditor, "patch", "inst", "web-1", "--type=merge", "--dry-run=server", "--warnings-as-errors", "-p", patch)
		return err
	}

	BeforeAll(func(ctx SpecContext) { Create(ctx, "web-1", Trusting(AlphaAuthority)) })

	DescribeTable("are shown by kubectl for what costs the machine's disk",
		func(ctx SpecContext, patch string, says ...string) {
			err := warnedBy(ctx, patch)
			for _, text := range says {
				Expect(err).To(MatchError(ContainSubstring("Warning: " + text)))
			}
		},
		Entry("another flavor", `{"spec":{"flavorID":"`+string(Gpu)+`"}}`, "spec.flavorID: the machine is replaced"),
		Entry("another image", `{"spec":{"imageID":"`+string(Ubuntu2)+`"}}`, "spec.imageID: the machine is rebuilt"),
		Entry("another authority", `{"spec":{"sshCertificateAuthorityID":null}}`, "spec.sshCertificateAuthorityID: the machine is replaced"),
		Entry("several at once", `{"spec":{"flavorID":"`+string(Gpu)+`","imageID":"`+string(Ubuntu2)+`"}}`, "spec.flavorID: ", "spec.imageID: "),
		Entry("user data that the machine no longer reads", `{"spec":{"userData":"IyEvYmluL3NoCg=="}}`, "spec.userData: the change takes effect only when"),
		Entry("what belongs to the platform", `{"metadata":{"labels":{"unikorn-cloud.org/project":"x"}}}`, "metadata.labels[unikorn-cloud.org/project] belongs to the platform"),
	)

	It("are not given for what costs nothing", func(ctx SpecContext) {
		Expect(warnedBy(ctx, `{"spec":{"tags":[{"name":"env","value":"prod"}],"networking":{"publicIP":true}},"metadata":{"labels":{"team":"blue"}}}`)).To(Succeed())
	})

	It("come with a create as well", func(ctx SpecContext) {
		client := Hearing(environment.AlphaEditor)
		_, err := client.Create(ctx, NewInstance("web-2", Started([]byte("#!\necho hello\n"))), metav1.CreateOptions{DryRun: DryRun})
		Expect(err).NotTo(HaveOccurred())
		Expect(client.Said()).To(ConsistOf(ContainSubstring("names no interpreter")))
	})
})
