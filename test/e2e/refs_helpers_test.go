// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	gomegatypes "github.com/onsi/gomega/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	computev1beta1 "github.com/unikorn-cloud/instance-apiserver/pkg/generated/clientset/versioned/typed/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/requestlog"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/settings"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
)

// Things of the fixture that alpha-net has nothing to do with, and such that
// are nowhere.
const (
	alpha2Group ids.SecurityGroupID = "0e000000-0000-4000-8000-0000000000e2"
	betaGroup   ids.SecurityGroupID = "0e000000-0000-4000-8000-0000000000e3"
	gammaGroup  ids.SecurityGroupID = "0e000000-0000-4000-8000-0000000000e4"

	betaAuthority  ids.SSHCertificateAuthorityID = "0f000000-0000-4000-8000-0000000000f2"
	gammaAuthority ids.SSHCertificateAuthorityID = "0f000000-0000-4000-8000-0000000000f3"

	missingNetwork   ids.NetworkID                 = "0d000000-0000-4000-8000-0000000000df"
	missingGroup     ids.SecurityGroupID           = "0e000000-0000-4000-8000-0000000000ef"
	missingAuthority ids.SSHCertificateAuthorityID = "0f000000-0000-4000-8000-0000000000ff"
	missingFlavor    ids.FlavorID                  = "11111111-1111-1111-1111-11111111111f"
	missingImage     ids.ImageID                   = "33333333-3333-3333-3333-33333333333f"
)

// Fields that references are in.
const (
	networkField   = "spec.networkID"
	flavorField    = "spec.flavorID"
	imageField     = "spec.imageID"
	authorityField = "spec.sshCertificateAuthorityID"
	groupField     = "spec.networking.securityGroupIDs[0]"
	userDataField  = "spec.userData"
)

func sized(flavor ids.FlavorID) func(*v1beta1.Instance) {
	return func(instance *v1beta1.Instance) { instance.Spec.FlavorID = flavor }
}

func booting(image ids.ImageID) func(*v1beta1.Instance) {
	return func(instance *v1beta1.Instance) { instance.Spec.ImageID = image }
}

func trusting(authority ids.SSHCertificateAuthorityID) func(*v1beta1.Instance) {
	return func(instance *v1beta1.Instance) { instance.Spec.SSHCertificateAuthorityID = authority }
}

func behind(groups ...ids.SecurityGroupID) func(*v1beta1.Instance) {
	return func(instance *v1beta1.Instance) { instance.Spec.Networking.SecurityGroupIDs = groups }
}

func started(userData []byte) func(*v1beta1.Instance) {
	return func(instance *v1beta1.Instance) { instance.Spec.UserData = userData }
}

// notFoundAt is the cause of a reference to what is not there for the caller.
func notFoundAt(field string) string {
	return string(metav1.CauseTypeFieldValueNotFound) + " " + field
}

// invalidAt is the cause of a value that is not allowed.
func invalidAt(field string) string {
	return string(metav1.CauseTypeFieldValueInvalid) + " " + field
}

// causesOf are the causes of an answer, each its type and its field.
func causesOf(err error) ([]string, error) {
	status, failure := statusOf(err)
	if failure != nil {
		return nil, failure
	}
	causes := []string{}
	if status.Details != nil {
		for _, cause := range status.Details.Causes {
			causes = append(causes, string(cause.Type)+" "+cause.Field)
		}
	}
	return causes, nil
}

// beInvalidFor matches the error of a request that was answered with 422 for
// these causes, each once, and no others.
func beInvalidFor(causes ...string) gomegatypes.GomegaMatcher {
	return And(beRefused(422, metav1.StatusReasonInvalid), WithTransform(causesOf, ConsistOf(causes)))
}

// withoutIDs is all of an answer as JSON, but for the ids that it is about.
func withoutIDs(err error, about ...string) string {
	GinkgoHelper()
	status, failure := statusOf(err)
	Expect(failure).NotTo(HaveOccurred())
	whole, failure := json.Marshal(status)
	Expect(failure).NotTo(HaveOccurred())
	text := string(whole)
	for _, id := range about {
		text = redact(text, id)
	}
	return text
}

// inBothOrganizations is alpha-gamma-editor where the authenticator says which
// organizations people are in, so that region shows what is in either.
const inBothOrganizations = environment.AlphaGammaEditor + " of both organizations"

// instancesAs are those of namespace as the person sees them.
func instancesAs(person, namespace string) computev1beta1.InstanceInterface {
	GinkgoHelper()
	config := configOf(environment.Admin)
	if person == inBothOrganizations {
		config.Impersonate = rest.ImpersonationConfig{
			UserName: environment.AlphaGammaEditor,
			Extra:    map[string][]string{principal.OrganizationIDsExtra: {string(world.Acme), string(world.Umbrella)}},
		}
	} else {
		config = configOf(person)
	}
	return instancesFor(config).ComputeV1beta1().Instances(namespace)
}

func createIn(ctx context.Context, person, namespace string, instance *v1beta1.Instance) error {
	GinkgoHelper()
	_, err := instancesAs(person, namespace).Create(ctx, instance, metav1.CreateOptions{})
	return err
}

// merge sends person's merge patch of an Instance of namespace alpha.
func merge(ctx context.Context, person, name, patch string, options ...metav1.PatchOptions) (*v1beta1.Instance, error) {
	GinkgoHelper()
	return instancesAs(person, alpha).Patch(ctx, name, types.MergePatchType, []byte(patch), append(options, metav1.PatchOptions{})[0])
}

func forgetRequests(ctx context.Context) {
	GinkgoHelper()
	Expect(simulator().ForgetRequests(ctx)).To(Succeed())
}

// requestsIn are the requests to the platform since they were forgotten whose
// principal has the form: A is the API server's, B is the controller's.
func requestsIn(ctx context.Context, form principal.Form) []requestlog.Entry {
	GinkgoHelper()
	all, err := simulator().Requests(ctx)
	Expect(err).NotTo(HaveOccurred())
	var found []requestlog.Entry
	for _, request := range all {
		Expect(request.PrincipalForm).NotTo(BeEmpty(), "%s %s", request.Method, request.Path)
		if request.PrincipalForm == string(form) {
			found = append(found, request)
		}
	}
	return found
}

// asked is what the API server asked the platform since requests were
// forgotten, each by its service, method and the end of its path.
func asked(ctx context.Context) []string {
	GinkgoHelper()
	lines := []string{}
	for _, request := range requestsIn(ctx, principal.FormA) {
		lines = append(lines, request.Service+" "+request.Method+" "+shortPath(request.Path))
	}
	return lines
}

// shortPath leaves out of a path what is the same in all specs.
func shortPath(path string) string {
	for _, prefix := range []string{
		"/api/v1/organizations/" + string(world.Acme) + "/regions/" + string(world.North) + "/",
		"/api/v1/organizations/" + string(world.Acme) + "/projects/" + string(world.Alpha) + "/",
		"/api/v1/organizations/" + string(world.Acme) + "/",
		"/api/v2/regions/" + string(world.North) + "/",
		"/api/v2/",
	} {
		if short, ok := strings.CutPrefix(path, prefix); ok {
			return short
		}
	}
	return path
}

// principalOf is on whose behalf a request was made.
func principalOf(request requestlog.Entry) principal.Principal {
	GinkgoHelper()
	var found principal.Principal
	Expect(json.Unmarshal(request.Principal, &found)).To(Succeed())
	return found
}

// withSettings changes the simulator until the spec ends.
func withSettings(ctx context.Context, edit func(*settings.Settings)) {
	GinkgoHelper()
	before, err := simulator().Settings(ctx)
	Expect(err).NotTo(HaveOccurred())
	changed := before
	edit(&changed)
	Expect(simulator().SetSettings(ctx, changed)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { Expect(simulator().SetSettings(ctx, before)).To(Succeed()) })
}

// awaitAlphaOpen waits until namespace alpha takes Instances again.
func awaitAlphaOpen(ctx SpecContext) {
	Eventually(func() error {
		_, err := instances(environment.AlphaEditor, alpha).Create(ctx, newInstance("probe"), metav1.CreateOptions{DryRun: dryRun})
		return err
	}).WithContext(ctx).Should(Succeed())
}
