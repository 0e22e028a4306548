// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

// edited is the path of a copy of an example in which text is replaced.
func edited(name, text, replacement string) string {
	GinkgoHelper()
	content, err := os.ReadFile(Example(name))
	Expect(err).NotTo(HaveOccurred())
	Expect(string(content)).To(ContainSubstring(text))
	copied := filepath.Join(GinkgoT().TempDir(), name)
	Expect(os.WriteFile(copied, []byte(strings.ReplaceAll(string(content), text, replacement)), 0o600)).To(Succeed())
	return copied
}

// columnsOf are the headers of what kubectl get prints.
func columnsOf(table string) []string {
	header, _, _ := strings.Cut(table, "\n")
	return strings.Fields(header)
}

var _ = Describe("kubectl", func() {
	It("waits for the demo to be Running", func(ctx SpecContext) {
		AsEditor(ctx, "apply", "-f", Example("demo.yaml"))
		AsEditor(ctx, "-n", Alpha, "wait", "inst/demo", "--for=jsonpath={.status.powerState}=Running", "--timeout=60s")
		Expect(Machines(ctx)).To(Equal([]string{"demo"}))
	})

	DescribeTable("applies the example: created, then unchanged, then configured after a tag edit",
		func(ctx SpecContext, flags []string, again string) {
			apply := append([]string{"apply"}, flags...)
			const name = "instance.compute.unikorn-cloud.org/web-1"
			Expect(AsEditor(ctx, append(apply, "-f", Example("instance.yaml"))...)).To(HavePrefix(name + " " + map[bool]string{true: "serverside-applied", false: "created"}[len(flags) > 0]))
			before := Get(ctx, "web-1")
			Expect(AsEditor(ctx, append(apply, "-f", Example("instance.yaml"))...)).To(HavePrefix(name + " " + again))
			Expect(Get(ctx, "web-1").Generation).To(Equal(before.Generation))

			changed := edited("instance.yaml", "value: demo", "value: prod")
			Expect(AsEditor(ctx, append(apply, "-f", changed)...)).To(HavePrefix(name))
			after := Get(ctx, "web-1")
			Expect(after.Spec.Tags).To(ConsistOf(And(HaveField("Name", "env"), HaveField("Value", "prod"))))
			Expect(after.UID).To(Equal(before.UID))
			Expect(after.Generation).To(Equal(before.Generation + 1))
		},
		Entry("client-side", nil, "unchanged"),
		Entry("server-side", []string{"--server-side"}, "serverside-applied"),
	)

	It("gets the columns, and more of them with -o wide", func(ctx SpecContext) {
		Create(ctx, "web-1")
		running := AwaitRunning(ctx, "web-1")
		columns := []string{"NAME", "POWER", "STATUS", "PRIVATE-IP", "PUBLIC-IP", "FLAVOR", "AGE"}

		narrow := AsEditor(ctx, "get", "inst")
		Expect(columnsOf(narrow)).To(Equal(columns))
		row := strings.Fields(strings.Split(narrow, "\n")[1])
		Expect(row[:6]).To(Equal([]string{"web-1", "Running", "Ready", running.Status.PrivateIP, "<none>", string(Standard)}))

		wide := AsEditor(ctx, "get", "inst", "-o", "wide")
		Expect(columnsOf(wide)).To(Equal(append(columns, "IMAGE", "NETWORK", "REGION", "ID")))
		row = strings.Fields(strings.Split(wide, "\n")[1])
		Expect(row[7:]).To(Equal([]string{
			string(Ubuntu), string(AlphaNet), string(running.Status.RegionID), string(running.Status.InstanceID),
		}))
	})

	It("knows the resource by its short name, its singular and its category", func(ctx SpecContext) {
		Create(ctx, "web-1")
		for _, resource := range []string{"inst", "instance", "instances", "instances.compute.unikorn-cloud.org", "unikorn-cloud"} {
			Expect(AsEditor(ctx, "get", resource, "-o", "name")).To(Equal("instance.compute.unikorn-cloud.org/web-1\n"), resource)
		}
	})

	It("edits with strategic merge patches: tags are merged by name", func(ctx SpecContext) {
		AsEditor(ctx, "apply", "-f", Example("instance.yaml"))
		AsEditor(ctx, "patch", "inst", "web-1", "--type=strategic", "-p", `{"spec":{"tags":[{"name":"tier","value":"web"}]}}`)
		Expect(AsEditor(ctx, "get", "inst", "web-1", "-o", "jsonpath={.spec.tags[*].name}")).To(ContainSubstring("env"))
		Expect(AsEditor(ctx, "get", "inst", "web-1", "-o", "jsonpath={.spec.tags[*].name}")).To(ContainSubstring("tier"))
	})

	It("labels, annotates and describes", func(ctx SpecContext) {
		Create(ctx, "web-1")
		generation := Get(ctx, "web-1").Generation
		AsEditor(ctx, "label", "inst", "web-1", "team=blue")
		AsEditor(ctx, "annotate", "inst", "web-1", "unikorn-cloud.org/description=the first")
		changed := Get(ctx, "web-1")
		Expect(changed.Labels).To(HaveKeyWithValue("team", "blue"))
		Expect(changed.Annotations).To(HaveKeyWithValue("unikorn-cloud.org/description", "the first"))
		Expect(changed.Generation).To(Equal(generation), "labels and annotations are no change of the spec")
		Expect(AsEditor(ctx, "describe", "inst", "web-1")).To(And(ContainSubstring("team=blue"), ContainSubstring(string(Standard))))
	})
})

var _ = Describe("kubectl wait", func() {
	It("waits for conditions and deletion", func(ctx SpecContext) {
		Create(ctx, "web-1")
		AsEditor(ctx, "wait", "inst/web-1", "--for=condition=Ready", "--timeout=60s")
		Expect(Get(ctx, "web-1").Status.PrivateIP).NotTo(BeEmpty())

		AsEditor(ctx, "delete", "inst", "web-1", "--wait=false")
		AsEditor(ctx, "wait", "inst/web-1", "--for=delete", "--timeout=60s")
		Expect(Get(ctx, "web-1")).To(BeNil())
	})

	It("fails for a condition that does not come true", func(ctx SpecContext) {
		Create(ctx, "web-1")
		AwaitRunning(ctx, "web-1")
		_, err := Env.Kubectl(ctx, environment.AlphaEditor, "wait", "inst/web-1", "--for=condition=Stalled", "--timeout=1s")
		Expect(err).To(MatchError(ContainSubstring("timed out waiting for the condition")))
	})
})
