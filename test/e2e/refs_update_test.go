// SPDX-License-Identifier: Apache-2.0

package e2e

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
	dry := metav1.PatchOptions{DryRun: dryRun}

	BeforeAll(func(ctx SpecContext) {
		create(ctx, "web-1", behind(alphaGroup), trusting(alphaAuthority))
		awaitRunning(ctx, "web-1")
	})

	const (
		group     = "region GET securitygroups/" + string(alphaGroup)
		authority = "region GET sshcertificateauthorities/" + string(alphaAuthority)
		flavors   = "region GET flavors"
		images    = "region GET images"
	)

	DescribeTable("looks up what is attached, flavor and image when either changes, and nothing else",
		func(ctx SpecContext, patch string, want ...string) {
			forgetRequests(ctx)
			_, err := merge(ctx, environment.AlphaEditor, "web-1", patch, dry)
			Expect(err).NotTo(HaveOccurred())
			Expect(asked(ctx)).To(ConsistOf(want))
		},
		Entry("of tags", `{"spec":{"tags":[{"name":"env","value":"prod"}]}}`, group, authority),
		Entry("of the public address", `{"spec":{"networking":{"publicIP":true}}}`, group, authority),
		Entry("of the pause", `{"spec":{"paused":true}}`, group, authority),
		Entry("of user data", `{"spec":{"userData":"IyEvYmluL3NoCg=="}}`, group, authority),
		Entry("of the flavor", `{"spec":{"flavorID":"`+string(gpu)+`"}}`, group, authority, flavors, images),
		Entry("of the image", `{"spec":{"imageID":"`+string(ubuntu2)+`"}}`, group, authority, flavors, images),
		Entry("that takes the authority off", `{"spec":{"sshCertificateAuthorityID":null}}`, group),
		Entry("that takes the security groups off", `{"spec":{"networking":{"securityGroupIDs":null}}}`, authority),
		Entry("that changes nothing", `{"spec":{"paused":false,"flavorID":"`+string(standard)+`"}}`),
		Entry("of labels", `{"metadata":{"labels":{"team":"blue"}}}`),
		Entry("of annotations", `{"metadata":{"annotations":{"unikorn-cloud.org/description":"mine","example.com/x":"y"}}}`),
		Entry("of finalizers", `{"metadata":{"finalizers":["unikorn","example.com/hold"]}}`),
	)

	It("of metadata alone asks nobody and works while the platform is down", func(ctx SpecContext) {
		withFaults(ctx, fault.Fault{Status: ptr.To(http.StatusServiceUnavailable)})
		forgetRequests(ctx)
		updated, err := merge(ctx, environment.AlphaEditor, "web-1", `{"metadata":{"labels":{"team":"blue"},"annotations":{"example.com/x":"y"}}}`)
		Expect(err).NotTo(HaveOccurred())
		Expect(updated.Labels).To(HaveKeyWithValue("team", "blue"))
		replaced, err := inAlpha().Update(ctx, updated, metav1.UpdateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(replaced.ResourceVersion).To(Equal(updated.ResourceVersion))
		Expect(asked(ctx)).To(BeEmpty())
	})

	DescribeTable("with a reference that does not fit is 422 with its field, whoever may see it",
		func(ctx SpecContext, person, patch string, causes ...string) {
			before := get(ctx, "web-1")
			_, err := merge(ctx, person, "web-1", patch)
			Expect(err).To(beInvalidFor(causes...))
			Expect(get(ctx, "web-1").Spec).To(Equal(before.Spec))
		},
		Entry("a security group of another network", environment.AlphaEditor,
			`{"spec":{"networking":{"securityGroupIDs":["`+string(alpha2Group)+`"]}}}`, notFoundAt(groupField)),
		Entry("a security group of another project", environment.AlphaBetaEditor,
			`{"spec":{"networking":{"securityGroupIDs":["`+string(alphaGroup)+`","`+string(betaGroup)+`"]}}}`, notFoundAt("spec.networking.securityGroupIDs[1]")),
		Entry("an authority of another project", environment.AlphaBetaEditor,
			`{"spec":{"sshCertificateAuthorityID":"`+string(betaAuthority)+`"}}`, notFoundAt(authorityField)),
		Entry("an authority of another organization", inBothOrganizations,
			`{"spec":{"sshCertificateAuthorityID":"`+string(gammaAuthority)+`"}}`, notFoundAt(authorityField)),
		Entry("a flavor that is nowhere", environment.AlphaEditor, `{"spec":{"flavorID":"`+string(missingFlavor)+`"}}`, notFoundAt(flavorField)),
		Entry("a flavor for pinned machines only", environment.AlphaEditor, `{"spec":{"flavorID":"`+string(world.FlavorPinned)+`"}}`, invalidAt(flavorField)),
		Entry("a flavor of another architecture", environment.AlphaEditor, `{"spec":{"flavorID":"`+string(world.FlavorARM)+`"}}`, invalidAt(imageField)),
		Entry("a flavor whose disk is too small", environment.AlphaEditor, `{"spec":{"flavorID":"`+string(world.FlavorTiny)+`"}}`, invalidAt(imageField)),
		Entry("a flavor of bare metal", environment.AlphaEditor, `{"spec":{"flavorID":"`+string(world.FlavorMetal)+`"}}`, invalidAt(imageField)),
		Entry("an image for bare metal", environment.AlphaEditor, `{"spec":{"imageID":"`+string(world.ImageMetal)+`"}}`, invalidAt(imageField)),
		Entry("an image that is not ready", environment.AlphaEditor, `{"spec":{"imageID":"`+string(world.ImagePending)+`"}}`, notFoundAt(imageField)),
		Entry("an image of another organization", inBothOrganizations, `{"spec":{"imageID":"`+string(world.ImageOwned)+`"}}`, notFoundAt(imageField)),
		Entry("four of them at once", environment.AlphaBetaEditor,
			`{"spec":{"flavorID":"`+string(missingFlavor)+`","imageID":"`+string(missingImage)+`","sshCertificateAuthorityID":"`+string(betaAuthority)+
				`","networking":{"securityGroupIDs":["`+string(betaGroup)+`"]}}}`,
			notFoundAt(flavorField), notFoundAt(imageField), notFoundAt(authorityField), notFoundAt(groupField)),
	)

	It("whose form is wrong learns of that alone, and nobody is asked", func(ctx SpecContext) {
		forgetRequests(ctx)
		_, err := merge(ctx, environment.AlphaEditor, "web-1", `{"spec":{"name":"web-2","networkID":"`+string(alphaNet2)+`","organizationID":"`+string(world.Umbrella)+
			`","projectID":"`+string(world.Beta)+`","flavorID":"`+string(missingFlavor)+`","imageID":"image"}}`)
		Expect(err).To(beInvalidFor(invalidAt("spec.name"), invalidAt(networkField), invalidAt("spec.organizationID"), invalidAt("spec.projectID"), invalidAt(imageField)))
		Expect(asked(ctx)).To(BeEmpty())
	})

	DescribeTable("checks what was attached before, too, for the spec hands it on again",
		func(ctx SpecContext, path, cause string) {
			withFaults(ctx, fault.Fault{Service: "region", Path: path, Status: ptr.To(http.StatusNotFound)})
			_, err := merge(ctx, environment.AlphaEditor, "web-1", `{"spec":{"tags":[{"name":"env","value":"prod"}]}}`)
			Expect(err).To(beInvalidFor(cause))
		},
		Entry("a security group that is gone", "securitygroups/"+string(alphaGroup), notFoundAt(groupField)),
		Entry("an authority that is gone", "sshcertificateauthorities/"+string(alphaAuthority), notFoundAt(authorityField)),
	)

	Describe("of an Instance whose flavor and image are retired", func() {
		BeforeEach(func(ctx SpecContext) { withFaults(ctx, retired("flavors", "images")...) })

		It("may change what does not concern them", func(ctx SpecContext) {
			tagged, err := merge(ctx, environment.AlphaEditor, "web-1", `{"spec":{"tags":[{"name":"env","value":"prod"}]}}`)
			Expect(err).NotTo(HaveOccurred())
			Expect(tagged.Spec.Tags).To(HaveLen(1))
			_, err = merge(ctx, environment.AlphaEditor, "web-1",
				`{"spec":{"networking":{"allowedSourceAddresses":["10.1.0.0/24"],"publicIP":true}}}`)
			Expect(err).NotTo(HaveOccurred())
			Eventually(func() string { return get(ctx, "web-1").Status.PublicIP }).WithContext(ctx).ShouldNot(BeEmpty())
		})

		It("may not change them for what is retired as well", func(ctx SpecContext) {
			_, err := merge(ctx, environment.AlphaEditor, "web-1", `{"spec":{"imageID":"`+string(ubuntu2)+`"}}`)
			Expect(err).To(beInvalidFor(notFoundAt(imageField)))
			_, err = merge(ctx, environment.AlphaEditor, "web-1", `{"spec":{"flavorID":"`+string(gpu)+`"}}`)
			Expect(err).To(beInvalidFor(notFoundAt(flavorField), notFoundAt(imageField)))
		})
	})

	It("of an Instance whose flavor is retired may change the image", func(ctx SpecContext) {
		withFaults(ctx, retired("flavors")...)
		_, err := merge(ctx, environment.AlphaEditor, "web-1", `{"spec":{"imageID":"`+string(ubuntu2)+`"}}`, dry)
		Expect(err).NotTo(HaveOccurred())
	})
})

var _ = Describe("Warnings", Ordered, ContinueOnFailure, func() {
	// warnedBy is what kubectl prints of a patch that succeeds with warnings.
	warnedBy := func(ctx context.Context, patch string) error {
		_, err := env.Kubectl(ctx, environment.AlphaEditor, "patch", "inst", "web-1", "--type=merge", "--dry-run=server", "--warnings-as-errors", "-p", patch)
		return err
	}

	BeforeAll(func(ctx SpecContext) { create(ctx, "web-1", trusting(alphaAuthority)) })

	DescribeTable("are shown by kubectl for what costs the machine's disk",
		func(ctx SpecContext, patch string, says ...string) {
			err := warnedBy(ctx, patch)
			for _, text := range says {
				Expect(err).To(MatchError(ContainSubstring("Warning: " + text)))
			}
		},
		Entry("another flavor", `{"spec":{"flavorID":"`+string(gpu)+`"}}`, "spec.flavorID: the machine is replaced"),
		Entry("another image", `{"spec":{"imageID":"`+string(ubuntu2)+`"}}`, "spec.imageID: the machine is rebuilt"),
		Entry("another authority", `{"spec":{"sshCertificateAuthorityID":null}}`, "spec.sshCertificateAuthorityID: the machine is replaced"),
		Entry("several at once", `{"spec":{"flavorID":"`+string(gpu)+`","imageID":"`+string(ubuntu2)+`"}}`, "spec.flavorID: ", "spec.imageID: "),
		Entry("user data that the machine no longer reads", `{"spec":{"userData":"IyEvYmluL3NoCg=="}}`, "spec.userData: the change takes effect only when"),
		Entry("what belongs to the platform", `{"metadata":{"labels":{"unikorn-cloud.org/project":"x"}}}`, "metadata.labels[unikorn-cloud.org/project] belongs to the platform"),
	)

	It("are not given for what costs nothing", func(ctx SpecContext) {
		Expect(warnedBy(ctx, `{"spec":{"tags":[{"name":"env","value":"prod"}],"networking":{"publicIP":true}},"metadata":{"labels":{"team":"blue"}}}`)).To(Succeed())
	})

	It("come with a create as well", func(ctx SpecContext) {
		client, heardOf := warned()
		_, err := client.Create(ctx, newInstance("web-2", started([]byte("#!\necho hello\n"))), metav1.CreateOptions{DryRun: dryRun})
		Expect(err).NotTo(HaveOccurred())
		Expect(heardOf.given()).To(ConsistOf(ContainSubstring("names no interpreter")))
	})
})
