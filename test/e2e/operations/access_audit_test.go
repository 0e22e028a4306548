// SPDX-License-Identifier: Apache-2.0

package operations

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	applyv1beta1 "github.com/unikorn-cloud/instance-apiserver/pkg/generated/applyconfiguration/compute/v1beta1"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

// recorders are those whose audits are looked at: the policy of the cluster's
// records no bodies of what it is told by the processes.
var recorders = []string{"instance-apiserver-0", "instance-apiserver-1", "kube-apiserver"}

// recorded are the requests about an Instance that the replicas of the API
// server have completed, by verb and subresource.
func recorded(name string) map[string][]auditv1.Event {
	GinkgoHelper()
	found := map[string][]auditv1.Event{}
	for _, replica := range recorders[:2] {
		for _, event := range Audited(replica) {
			if event.Stage != auditv1.StageResponseComplete || event.ObjectRef == nil || event.ObjectRef.Resource != "instances" || event.ObjectRef.Name != name {
				continue
			}
			what := strings.TrimSpace(event.Verb + " " + event.ObjectRef.Subresource)
			found[what] = append(found[what], event)
		}
	}
	return found
}

// confidential is user data of an Instance with a word that is nowhere else.
func confidential(word string) []byte {
	return []byte("#cloud-config\nruncmd: [echo " + word + "]\n")
}

// traces are how user data with a word may show: as it is and encoded.
func traces(word string) []string {
	// Encoded it begins like that of others.
	return []string{word, base64.StdEncoding.EncodeToString(confidential(word))[20:44]}
}

var _ = Describe("An audit of everything at the highest level", Ordered, ContinueOnFailure, func() {
	const name = "audited-1"
	var secrets []string

	// All that carries a secret is done, and something that does not.
	BeforeAll(func(ctx SpecContext) {
		given := func(word string) []byte {
			secrets = append(secrets, traces(word)...)
			return confidential(word)
		}
		userData := func(word string) string { return base64.StdEncoding.EncodeToString(given(word)) }
		Create(ctx, name, Started(given("given-in-create")))
		AwaitRunning(ctx, name)

		made := Get(ctx, name)
		made.Spec.UserData = given("given-in-update")
		_, err := InAlpha().Update(ctx, made, metav1.UpdateOptions{DryRun: DryRun})
		Expect(err).NotTo(HaveOccurred())
		_, err = Merge(ctx, environment.AlphaEditor, name, `{"spec":{"userData":"`+userData("given-in-merge")+`"}}`)
		Expect(err).NotTo(HaveOccurred())
		_, err = InAlpha().Patch(ctx, name, types.JSONPatchType,
			[]byte(`[{"op":"replace","path":"/spec/userData","value":"`+userData("given-in-json-patch")+`"}]`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		_, err = InAlpha().Apply(ctx, applyv1beta1.Instance(name, Alpha).WithSpec(applyv1beta1.InstanceSpec().WithUserData(given("given-in-apply")...)),
			metav1.ApplyOptions{FieldManager: "e2e", Force: true})
		Expect(err).NotTo(HaveOccurred())
		askForSecretsInVain(ctx, name, userData("given-in-vain"))
		secrets = append(secrets, sendMalformed(ctx, name))
		Kubectl(ctx, environment.AlphaViewer, "get", "inst", "-o", "yaml")
		secrets = append(secrets, handedOut(ctx, name)...)

		_, err = switchPower(ctx, InAlpha(), name, v1beta1.PowerActionReboot)
		Expect(err).NotTo(HaveOccurred())
		_, err = InAlpha().CreateSnapshot(ctx, name, snapshot("picture"), metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
	})

	It("has the requests that carry a secret without their bodies and answers", func() {
		carrying := []string{"create", "update", "patch", "get", "create console", "create sshkey"}
		Eventually(func() map[string][]auditv1.Event { return recorded(name) }).Should(And(
			HaveKey("create"), HaveKey("update"), HaveKey("patch"), HaveKey("get"), HaveKey("create console"), HaveKey("create sshkey")))
		for what, events := range recorded(name) {
			if !slices.Contains(carrying, what) {
				continue
			}
			for _, event := range events {
				Expect(event.Level).To(Equal(auditv1.LevelMetadata), what)
				Expect(event.RequestObject).To(BeNil(), what)
				Expect(event.ResponseObject).To(BeNil(), what)
				Expect(event.User.Username).NotTo(BeEmpty(), what)
			}
		}
	})

	It("has the others with bodies and answers", func() {
		Eventually(func() map[string][]auditv1.Event { return recorded(name) }).Should(And(HaveKey("create power"), HaveKey("create snapshot")))
		for what, word := range map[string]string{"create power": "Reboot", "create snapshot": "picture"} {
			for _, event := range recorded(name)[what] {
				if event.ResponseStatus.Code == http.StatusBadRequest {
					continue // There was nothing to be read.
				}
				Expect(event.Level).To(Equal(auditv1.LevelRequestResponse), what)
				Expect(event.RequestObject).To(HaveField("Raw", ContainSubstring(word)), what)
				Expect(event.ResponseObject).To(HaveField("Raw", ContainSubstring(word)), what)
			}
		}
	})

	It("has no user data, no key and no console session in it, nor has any log, metric or event", func(ctx SpecContext) {
		for _, recorder := range recorders {
			content, err := os.ReadFile(Env.Audit(recorder))
			Expect(err).NotTo(HaveOccurred())
			Expect(string(content)).To(ContainSubstring("/namespaces/alpha/"), recorder)
			expectNone(string(content), secrets, recorder)
		}
		logs, err := Env.Logs()
		Expect(err).NotTo(HaveOccurred())
		for _, log := range logs {
			content, err := os.ReadFile(log)
			Expect(err).NotTo(HaveOccurred())
			expectNone(string(content), secrets, log)
		}
		expectNone(exposed(ctx), secrets, "metrics")
		metrics := presenting(nil, nil).at("http://"+AddressOf("instance-controller-metrics")).get(ctx, "/metrics", nil)
		Expect(metrics.Code).To(Equal(http.StatusOK))
		expectNone(metrics.Body, secrets, "metrics of the controller")
		events, err := ClientOf(environment.Admin).CoreV1().Events(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		expectNone(events.String(), secrets, "events")
	})
})

// askForSecretsInVain sends requests that carry secrets and are refused, for
// different reasons.
func askForSecretsInVain(ctx context.Context, name, userData string) {
	GinkgoHelper()
	for _, patch := range []string{
		`{"spec":{"userData":"` + userData + `","imageID":"` + string(MissingImage) + `"}}`,
		`{"spec":{"userData":"` + userData + `","networkID":"` + string(AlphaNet2) + `"}}`,
		`{"spec":{"userData":{"` + userData + `":1}}}`,
		`{"spec":{"userData":"` + userData + `"`,
		`{"spec":{"userData":"` + userData + `!"}}`,
	} {
		_, err := Merge(ctx, environment.AlphaEditor, name, patch)
		Expect(err).To(HaveOccurred(), "%s", patch)
	}
	for _, person := range []string{environment.AlphaViewer, environment.BetaEditor} {
		_, err := Merge(ctx, person, name, `{"spec":{"userData":"`+userData+`"}}`)
		Expect(err).To(BeRefused(403, metav1.StatusReasonForbidden))
	}
}

// sendMalformed sends bodies that cannot be read and begin with what it returns.
func sendMalformed(ctx context.Context, name string) string {
	GinkgoHelper()
	const word = "hunter2"
	bodies := []string{
		`{"a":"` + word,
		`{"apiVersion":"a/","a":"` + word + `"}`,
		`{"spec":{"userData":"` + word + `!"}}`,
		word,
		word + ": - " + word,
	}
	editor := askerFor(ConfigOf(environment.AlphaEditor))
	refused := func(method, path, mediaType string) {
		GinkgoHelper()
		for _, body := range bodies {
			// Strictly, or fields that the kind does not have are taken no offence at.
			answer := editor.send(ctx, method, listPath+path+"?fieldValidation=Strict&fieldManager=e2e", mediaType, body, nil)
			Expect(answer.Code).To(BeElementOf(http.StatusBadRequest, http.StatusUnprocessableEntity), "%s %s %s %s", method, path, mediaType, body)
			Expect(answer.Body).NotTo(ContainSubstring(word), "%s %s %s %s", method, path, mediaType, body)
		}
	}
	for _, mediaType := range []string{"application/json", "application/yaml"} {
		for _, below := range []string{"power", "console", "snapshot", "sshkey"} {
			refused(http.MethodPost, "/"+name+"/"+below, mediaType)
		}
		refused(http.MethodPost, "", mediaType)
		refused(http.MethodPut, "/"+name, mediaType)
	}
	for _, patchType := range []types.PatchType{types.JSONPatchType, types.MergePatchType, types.ApplyYAMLPatchType} {
		refused(http.MethodPatch, "/"+name, string(patchType))
	}
	return word
}

// handedOut asks for a console session and a key, and returns what nobody else
// may see of them.
func handedOut(ctx context.Context, name string) []string {
	GinkgoHelper()
	console, err := InAlpha().CreateConsole(ctx, name, &v1beta1.InstanceConsole{}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	session, err := url.Parse(console.Status.URL)
	Expect(err).NotTo(HaveOccurred())
	Expect(session.Query().Get("token")).NotTo(BeEmpty())
	key, err := InAlpha().CreateSSHKey(ctx, name, &v1beta1.InstanceSSHKey{}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	lines := strings.Split(key.Status.PrivateKey, "\n")
	Expect(len(lines)).To(BeNumerically(">", 2))
	return []string{session.Query().Get("token"), lines[1]}
}
