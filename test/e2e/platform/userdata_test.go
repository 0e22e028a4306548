// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	gomegatypes "github.com/onsi/gomega/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

// keepSecret matches texts without a trace of what is in the user data.
func keepSecret(p payload) gomegatypes.GomegaMatcher {
	matchers := []gomegatypes.GomegaMatcher{Not(ContainSubstring(password))}
	if len(p.raw) > 0 {
		encoded := base64.StdEncoding.EncodeToString(p.raw)
		matchers = append(matchers, Not(ContainSubstring(encoded[:min(len(encoded), 40)])))
	}
	return And(matchers...)
}

// everyPayload makes an entry of each payload without and with an authority.
func everyPayload() []TableEntry {
	var entries []TableEntry
	for _, each := range payloads {
		entries = append(entries,
			Entry(each.name, each, false),
			Entry(each.name+", with an authority", each, true))
	}
	return entries
}

var _ = Describe("User data", Ordered, ContinueOnFailure, func() {
	BeforeAll(func(ctx SpecContext) {
		Create(ctx, "plain")
		Create(ctx, "managed", Trusting(AlphaAuthority))
		AwaitRunning(ctx, "plain")
		AwaitRunning(ctx, "managed")
	})

	DescribeTable("of a new Instance is what the platform takes and the provider has room for; what the guest skips is warned of",
		func(ctx SpecContext, of payload, managed bool) {
			client := Hearing(environment.AlphaEditor)
			wanted := NewInstance("web-1", Started(of.raw))
			if managed {
				Trusting(AlphaAuthority)(wanted)
			}
			_, err := client.Create(ctx, wanted, metav1.CreateOptions{DryRun: DryRun})
			expectJudged(err, client.Said(), of, managed)
		},
		everyPayload(),
	)

	DescribeTable("of an update is refused only where it cannot go with the authority; what else is wrong with it is warned of",
		func(ctx SpecContext, of payload, managed bool) {
			client := Hearing(environment.AlphaEditor)
			name := "plain"
			if managed {
				name = "managed"
			}
			patch, err := json.Marshal(map[string]any{"spec": map[string]any{"userData": of.raw}})
			Expect(err).NotTo(HaveOccurred())
			_, err = client.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{DryRun: DryRun})
			given := client.Said()
			if of.raw == nil {
				Expect(err).NotTo(HaveOccurred())
				Expect(given).To(BeEmpty())
				return
			}
			if managed && bytes.HasPrefix(of.raw, []byte{0x1f, 0x8b}) {
				expectJudged(err, given, of, managed)
				return
			}
			Expect(err).NotTo(HaveOccurred())
			Expect(strings.Join(given, "\n")).To(keepSecret(of))
			want := []any{ContainSubstring("takes effect only when the machine is replaced")}
			if refusal := of.refusal(managed); refusal != "" {
				want = append(want, And(ContainSubstring("the platform will not change or replace the machine with it"), ContainSubstring(refusal)))
			}
			if warning := of.warning(managed); warning != "" {
				want = append(want, ContainSubstring(warning))
			}
			Expect(given).To(ConsistOf(want...))
		},
		everyPayload(),
	)

	It("that is compressed keeps the authority from being added, and not from being taken off", func(ctx SpecContext) {
		packed := compressed("#cloud-config\n")
		Create(ctx, "packed", Started(packed))
		_, err := Merge(ctx, environment.AlphaEditor, "packed", `{"spec":{"sshCertificateAuthorityID":"`+string(AlphaAuthority)+`"}}`)
		Expect(err).To(BeInvalidFor(InvalidAt(UserDataField)))
		_, err = Merge(ctx, environment.AlphaEditor, "packed", `{"spec":{"tags":[{"name":"env","value":"prod"}]}}`)
		Expect(err).NotTo(HaveOccurred())
		patch := fmt.Sprintf(`{"spec":{"userData":%q,"sshCertificateAuthorityID":null}}`, base64.StdEncoding.EncodeToString(packed))
		_, err = Merge(ctx, environment.AlphaEditor, "managed", patch, metav1.PatchOptions{DryRun: DryRun})
		Expect(err).NotTo(HaveOccurred())
	})

	It("that is older than the rules does not keep anything else from being changed", func(ctx SpecContext) {
		_, err := Merge(ctx, environment.AlphaEditor, "plain", `{"spec":{"paused":true,"userData":"`+base64.StdEncoding.EncodeToString([]byte(password))+`"}}`)
		Expect(err).NotTo(HaveOccurred())
		client := Hearing(environment.AlphaEditor)
		tagged, err := client.Patch(ctx, "plain", types.MergePatchType, []byte(`{"spec":{"tags":[{"name":"env","value":"prod"}]}}`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(tagged.Spec.Tags).To(HaveLen(1))
		Expect(client.Said()).To(BeEmpty())
	})

	It("that is not base64 is refused without a word of it", func(ctx SpecContext) {
		body := `{"apiVersion":"compute.unikorn-cloud.org/v1beta1","kind":"Instance","metadata":{"name":"web-1","namespace":"alpha"},"spec":{` +
			`"networkID":"` + string(AlphaNet) + `","flavorID":"` + string(Standard) + `","imageID":"` + string(Ubuntu) + `","userData":"!` + password + `"}}`
		rest := InstancesFor(ConfigOf(environment.AlphaEditor)).ComputeV1beta1().RESTClient()
		creating := rest.Post().Namespace(Alpha).Resource("instances").SetHeader("Content-Type", "application/json").Body([]byte(body)).Do(ctx).Error()
		Expect(creating).To(BeRefused(400, metav1.StatusReasonBadRequest))
		answers := map[string]error{"POST": creating}
		for _, value := range []string{`"!` + password + `"`, `["` + password + `"]`, `{"x":"` + password + `"}`} {
			spec := `{"userData":` + value + `}`
			_, answers["merge patch "+value] = Merge(ctx, environment.AlphaEditor, "managed", `{"spec":`+spec+`}`)
			_, answers["strategic merge patch "+value] = InAlpha().Patch(ctx, "managed", types.StrategicMergePatchType, []byte(`{"spec":`+spec+`}`), metav1.PatchOptions{})
			_, answers["JSON patch "+value] = InAlpha().Patch(ctx, "managed", types.JSONPatchType, []byte(`[{"op":"add","path":"/spec/userData","value":`+value+`}]`), metav1.PatchOptions{})
			_, answers["apply "+value] = InAlpha().Patch(ctx, "managed", types.ApplyPatchType,
				[]byte(`{"apiVersion":"compute.unikorn-cloud.org/v1beta1","kind":"Instance","metadata":{"name":"managed"},"spec":`+spec+`}`), metav1.PatchOptions{FieldManager: "e2e"})
		}
		for verb, err := range answers {
			Expect(err).To(HaveOccurred(), verb)
			status, failure := StatusOf(err)
			Expect(failure).NotTo(HaveOccurred(), verb)
			Expect(status.Code).To(BeElementOf(int32(400), int32(422)), "%s: %s", verb, status.Message)
			Expect(status.Message).NotTo(ContainSubstring(password), verb)
			Expect(status.Message).NotTo(ContainSubstring(string(AlphaNet)), "nor is the rest of the object shown: %s", verb)
		}
	})

	It("is not shown with other mistakes in a patch", func(ctx SpecContext) {
		Create(ctx, "told", Started([]byte("#!/bin/sh\necho "+password+"\n")))
		encoded := base64.StdEncoding.EncodeToString([]byte("#!/bin/sh\necho " + password + "\n"))
		for _, patch := range []string{`{"spec":{"paused":"yes"}}`, `{"spec":{"flavour":"large"}}`} {
			_, err := Merge(ctx, environment.AlphaEditor, "told", patch, metav1.PatchOptions{FieldValidation: metav1.FieldValidationStrict})
			Expect(err).To(BeInvalidFor(InvalidAt("patch")))
			Expect(err).NotTo(MatchError(ContainSubstring(encoded)))
			Expect(err).To(MatchError(Or(ContainSubstring("paused"), ContainSubstring(`unknown field "spec.flavour"`))))
		}
	})

	It("is in no log", func() {
		logs, err := Env.Logs()
		Expect(err).NotTo(HaveOccurred())
		Expect(logs).NotTo(BeEmpty())
		for _, log := range logs {
			content, err := os.ReadFile(log)
			Expect(err).NotTo(HaveOccurred())
			Expect(bytes.Contains(content, []byte(password))).To(BeFalse(), log)
		}
	})
})

// expectJudged checks the answer to a request with user data.
func expectJudged(err error, given []string, of payload, managed bool) {
	GinkgoHelper()
	Expect(strings.Join(given, "\n")).To(keepSecret(of))
	if refusal := of.refusal(managed); refusal != "" {
		Expect(err).To(BeInvalidFor(InvalidAt(UserDataField)))
		Expect(err).To(MatchError(And(ContainSubstring(refusal), keepSecret(of))))
		return
	}
	Expect(err).NotTo(HaveOccurred())
	if warning := of.warning(managed); warning != "" {
		Expect(given).To(ConsistOf(And(HavePrefix("spec."), ContainSubstring(warning))))
	} else {
		Expect(given).To(BeEmpty())
	}
}

var _ = Describe("User data that is accepted", func() {
	takenBy := func(ctx context.Context, managed bool) {
		GinkgoHelper()
		want := map[string][]byte{}
		for i, each := range payloads {
			if each.refusal(managed) != "" {
				continue
			}
			name := fmt.Sprintf("web-%d", i)
			want[name] = each.raw
			Create(ctx, name, Started(each.raw), func(instance *v1beta1.Instance) {
				if managed {
					Trusting(AlphaAuthority)(instance)
				}
			})
		}
		Eventually(func(g Gomega) {
			servers, err := Simulator().Servers(ctx)
			g.Expect(err).NotTo(HaveOccurred())
			got := map[string][]byte{}
			for _, server := range servers {
				got[server.Metadata.Name] = server.Spec.UserData
			}
			g.Expect(got).To(Equal(want))
		}).WithContext(ctx).Should(Succeed())
	}

	BeforeEach(func(ctx SpecContext) {
		limitServers(ctx, len(payloads))
		DeferCleanup(func(ctx SpecContext) { limitServers(ctx, 10) })
	})

	It("is taken by the platform as it is", func(ctx SpecContext) { takenBy(ctx, false) })

	It("is taken by the platform as it is with an authority", func(ctx SpecContext) { takenBy(ctx, true) })
})
