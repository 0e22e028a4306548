// SPDX-License-Identifier: Apache-2.0

package operations

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

// outlives is longer than the cluster's API server lets an ordinary request
// last, which is a minute.
const outlives = 75 * time.Second

// These are in order because they are the days of one machine, and because the
// follower that the first begins must grow old until the last.
var _ = Describe("Operating an Instance", Ordered, func() {
	const name, subresources = "web-1", listPath + "/web-1/"
	var (
		editor *Heard
		began  time.Time
		viewed *followed
	)

	BeforeAll(func(ctx SpecContext) {
		editor = Hearing(environment.AlphaEditor)
		Create(ctx, name)
		AwaitRunning(ctx, name)
		began, viewed = time.Now(), follow(Hearing(environment.AlphaViewer), name, 1)
	})

	conflictWith := func(err error, state v1beta1.PowerState) {
		GinkgoHelper()
		Expect(err).To(BeRefused(409, metav1.StatusReasonConflict))
		Expect(err).To(MatchError(ContainSubstring("while the machine is " + string(state))))
		cause, found := apierrors.StatusCause(err, v1beta1.CausePowerState)
		Expect(found).To(BeTrue())
		Expect(cause.Message).To(BeEquivalentTo(state))
	}

	It("shows its kinds and verbs in discovery", func() {
		list, err := ClientOf(environment.AlphaViewer).Discovery().ServerResourcesForGroupVersion("compute.unikorn-cloud.org/v1beta1")
		Expect(err).NotTo(HaveOccurred())
		found := map[string][]string{}
		for _, resource := range list.APIResources {
			if strings.Contains(resource.Name, "/") {
				found[resource.Name+" "+resource.Kind] = resource.Verbs
				Expect(resource.Namespaced).To(BeTrue())
			}
		}
		Expect(found).To(Equal(map[string][]string{
			"instances/console InstanceConsole":   {"create"},
			"instances/log Instance":              {"get"},
			"instances/power InstancePower":       {"create", "get"},
			"instances/snapshot InstanceSnapshot": {"create"},
			"instances/sshkey InstanceSSHKey":     {"create"},
			"instances/status Instance":           {"get"},
		}))
	})

	It("shows its power and its status", func(ctx SpecContext) {
		power, err := editor.GetPower(ctx, name, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		instance := Get(ctx, name)
		Expect(power.Status.PowerState).To(Equal(v1beta1.PowerStateRunning))
		Expect(power.Name).To(Equal(name))
		Expect(power.Namespace).To(Equal(Alpha))
		Expect(power.UID).To(Equal(instance.UID))
		_, body := raw(ctx, environment.AlphaViewer, http.MethodGet, subresources+"power", "")
		Expect(body).NotTo(ContainSubstring("action"))

		Expect(AsEditor(ctx, "-n", Alpha, "get", "inst", name, "--subresource=status")).To(ContainSubstring("Running"))
		response, _ := raw(ctx, environment.Admin, http.MethodPut, subresources+"status", "{}")
		Expect(response.StatusCode).To(Equal(http.StatusMethodNotAllowed))
	})

	It("opens a console session of its own for each request", func(ctx SpecContext) {
		first, err := editor.CreateConsole(ctx, name, &v1beta1.InstanceConsole{}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		second, err := editor.CreateConsole(ctx, name, &v1beta1.InstanceConsole{}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(first.Status.URL).To(HavePrefix("https://"))
		Expect(second.Status.URL).To(And(HavePrefix("https://"), Not(Equal(first.Status.URL))))
	})

	It("hands out the key of its network", func(ctx SpecContext) {
		key, err := editor.CreateSSHKey(ctx, name, &v1beta1.InstanceSSHKey{}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(key.Status.PrivateKey).To(HavePrefix("-----BEGIN"))
	})

	DescribeTable("lets no cache keep", func(ctx SpecContext, subresource string) {
		response, body := raw(ctx, environment.AlphaEditor, http.MethodPost, subresources+subresource, "{}")
		Expect(response.StatusCode).To(Equal(http.StatusCreated), body)
		Expect(response.Header["Cache-Control"]).To(ContainElement("no-store"))
	},
		Entry("console sessions", "console"),
		Entry("keys", "sshkey"),
	)

	It("is without a key where it has a certificate authority, and says so", func(ctx SpecContext) {
		Create(ctx, "web-2", func(instance *v1beta1.Instance) { instance.Spec.SSHCertificateAuthorityID = AlphaAuthority })
		AwaitRunning(ctx, "web-2")
		_, err := editor.CreateSSHKey(ctx, "web-2", &v1beta1.InstanceSSHKey{}, metav1.CreateOptions{})
		Expect(err).To(BeRefused(404, metav1.StatusReasonNotFound))
		Expect(err).To(MatchError(ContainSubstring("certificate")))
	})

	It("becomes an image that says whose it was, whatever was sent", func(ctx SpecContext) {
		const provenance = "compute.unikorn-cloud.org:instance-id"
		made, err := editor.CreateSnapshot(ctx, name, snapshot("before.upgrade_1",
			v1beta1.Tag{Name: provenance, Value: "forged"},
			v1beta1.Tag{Name: "env", Value: "prod"},
			v1beta1.Tag{Name: "compute.unikorn-cloud.org/instance-id", Value: "forged"},
			v1beta1.Tag{Name: "images.unikorn-cloud.org:organization-id", Value: "forged"},
		), metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(editor.Said()).To(HaveLen(3))
		Expect(made.Status.State).To(BeElementOf("pending", "creating"))
		Expect(made.Spec.Tags).To(Equal([]v1beta1.Tag{{Name: "env", Value: "prod"}}))
		instanceID := string(Get(ctx, name).Status.InstanceID)

		image := awaitImage(ctx, made.Status.ImageID)
		Expect(image.Metadata.Name).To(Equal("before.upgrade_1"))
		Expect(image.Metadata.Tags).To(ConsistOf(
			unikorn.Tag{Name: "env", Value: "prod"},
			unikorn.Tag{Name: provenance, Value: instanceID},
			unikorn.Tag{Name: "images.unikorn-cloud.org:organization-id", Value: string(acme)},
			unikorn.Tag{Name: "images.unikorn-cloud.org:source", Value: "snapshot"},
		))
		// It boots another instance.
		Create(ctx, "web-3", func(instance *v1beta1.Instance) { instance.Spec.ImageID = made.Status.ImageID })
	})

	It("has its console output read, as much of it as is asked for", func(ctx SpecContext) {
		all, err := editor.GetLogs(name, &v1beta1.InstanceLogOptions{}).DoRaw(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(all)).To(ContainSubstring("Hostname set to <web-1>"))
		two, err := editor.GetLogs(name, &v1beta1.InstanceLogOptions{TailLines: ptr.To[int64](2)}).DoRaw(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(strings.Count(string(two), "\n")).To(Equal(2))
		none, err := editor.GetLogs(name, &v1beta1.InstanceLogOptions{TailLines: ptr.To[int64](0)}).DoRaw(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(none).To(BeEmpty())
		response, _ := raw(ctx, environment.AlphaViewer, http.MethodGet, subresources+"log", "")
		Expect(response.Header.Get("Content-Type")).To(Equal("text/plain"))

		Expect(editor.GetLogs(name, &v1beta1.InstanceLogOptions{TailLines: ptr.To[int64](-1)}).Do(ctx).Error()).To(BeInvalidAt("tailLines"))
		response, said := raw(ctx, environment.AlphaViewer, http.MethodGet, subresources+"log?tailLines=all", "")
		Expect(response.StatusCode).To(Equal(http.StatusBadRequest))
		Expect(said).To(ContainSubstring("tailLines: "))
	})

	It("stops", func(ctx SpecContext) {
		power, err := switchPower(ctx, editor, name, v1beta1.PowerActionStop)
		Expect(err).NotTo(HaveOccurred())
		Expect(power.Status.PowerState).To(Equal(v1beta1.PowerStateStopping))
		Expect(power.Spec.Action).To(Equal(v1beta1.PowerActionStop))
		Expect(editor.Said()).To(BeEmpty())
		// Right after the first, when reads are still of before.
		_, err = switchPower(ctx, editor, name, v1beta1.PowerActionStop)
		Expect(err).NotTo(HaveOccurred())
		Expect(editor.Said()).To(ConsistOf(HavePrefix("Stop changed nothing: the machine is Stop")))

		Eventually(powerOf).WithContext(ctx).WithArguments(name).Should(Equal(v1beta1.PowerStateStopped))
		power, err = switchPower(ctx, editor, name, v1beta1.PowerActionStop)
		Expect(err).NotTo(HaveOccurred())
		Expect(power.Status.PowerState).To(Equal(v1beta1.PowerStateStopped))
		Expect(editor.Said()).To(Equal([]string{"Stop changed nothing: the machine is Stopped"}))
	})

	It("can be neither rebooted nor looked at while it is stopped", func(ctx SpecContext) {
		for _, action := range []v1beta1.PowerAction{v1beta1.PowerActionReboot, v1beta1.PowerActionHardReboot} {
			_, err := switchPower(ctx, editor, name, action)
			conflictWith(err, v1beta1.PowerStateStopped)
			Expect(err).To(MatchError(ContainSubstring(string(action))))
		}
		_, err := editor.CreateConsole(ctx, name, &v1beta1.InstanceConsole{}, metav1.CreateOptions{})
		conflictWith(err, v1beta1.PowerStateStopped)
	})

	It("starts", func(ctx SpecContext) {
		power, err := switchPower(ctx, editor, name, v1beta1.PowerActionStart)
		Expect(err).NotTo(HaveOccurred())
		Expect(power.Status.PowerState).To(Equal(v1beta1.PowerStatePending))
		Expect(editor.Said()).To(BeEmpty())
		Eventually(powerOf).WithContext(ctx).WithArguments(name).Should(Equal(v1beta1.PowerStateRunning))
		_, err = switchPower(ctx, editor, name, v1beta1.PowerActionStart)
		Expect(err).NotTo(HaveOccurred())
		Expect(editor.Said()).To(Equal([]string{"Start changed nothing: the machine is Running"}))
		Eventually(viewed.seen).WithContext(ctx).Should(And(
			ContainElement("reboot: Power down"), ContainElement(ContainSubstring("boot 2, datasource"))))
	})

	DescribeTable("reboots", func(ctx SpecContext, action v1beta1.PowerAction, shown string) {
		power, err := switchPower(ctx, editor, name, action)
		Expect(err).NotTo(HaveOccurred())
		Expect(power.Status.PowerState).To(Equal(v1beta1.PowerStateRunning))
		Expect(editor.Said()).To(BeEmpty())
		Eventually(viewed.seen).WithContext(ctx).Should(ContainElement(ContainSubstring(shown)))
	},
		Entry("when asked to", v1beta1.PowerActionReboot, "boot 3, datasource"),
		Entry("when forced to", v1beta1.PowerActionHardReboot, "boot 4, datasource"),
	)

	It("is operated with kubectl alone", func(ctx SpecContext) {
		Expect(AsEditor(ctx, "get", "--raw", subresources+"power")).To(ContainSubstring(`"powerState":"Running"`))
		Expect(AsEditor(ctx, "get", "--raw", subresources+"log?tailLines=1")).NotTo(BeEmpty())
		file := filepath.Join(GinkgoT().TempDir(), "start.json")
		Expect(os.WriteFile(file, []byte(`{"spec":{"action":"Start"}}`), 0o600)).To(Succeed())
		Expect(AsEditor(ctx, "create", "--raw", subresources+"power", "-f", file)).To(ContainSubstring(`"powerState":"Running"`))
	})

	It("does nothing on a dry run", func(ctx SpecContext) {
		Expect(Simulator().ForgetRequests(ctx)).To(Succeed())
		for subresource, err := range attempts(ctx, editor, name, metav1.DryRunAll) {
			Expect(err).NotTo(HaveOccurred(), subresource)
		}
		console, err := editor.CreateConsole(ctx, name, &v1beta1.InstanceConsole{}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		Expect(err).NotTo(HaveOccurred())
		Expect(console.Status.URL).To(BeEmpty())
		key, err := editor.CreateSSHKey(ctx, name, &v1beta1.InstanceSSHKey{}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		Expect(err).NotTo(HaveOccurred())
		Expect(key.Status.PrivateKey).To(BeEmpty())
		for _, effect := range []string{"/softreboot", "/consolesessions", "/snapshot"} {
			Expect(requestsOf(ctx, effect)).To(BeEmpty(), effect)
		}
		for _, err := range attempts(ctx, editor, "web-9", metav1.DryRunAll) {
			Expect(err).To(BeRefused(404, metav1.StatusReasonNotFound))
		}
		_, err = switchPower(ctx, editor, name, "Explode", metav1.DryRunAll)
		Expect(err).To(BeInvalidAt("spec.action"))
	})

	It("is read by all followers from one place, and by none when nobody follows", func(ctx SpecContext) {
		Expect(Simulator().ForgetRequests(ctx)).To(Succeed())
		var followers []*followed
		for range 4 {
			followers = append(followers, follow(editor, name, 0))
		}
		_, err := switchPower(ctx, editor, name, v1beta1.PowerActionReboot)
		Expect(err).NotTo(HaveOccurred())
		for _, follower := range followers {
			Eventually(follower.seen).WithContext(ctx).Should(ContainElement(ContainSubstring("boot 5, datasource")))
			Expect(follower.seen()).NotTo(ContainElement(ContainSubstring("boot 4, datasource")))
		}
	})

	It("is followed for longer than a minute, without a line twice or left out", Label("slow"), func(ctx SpecContext) {
		Eventually(func() time.Duration { return time.Since(began) }).WithContext(ctx).
			WithTimeout(2 * outlives).WithPolling(time.Second).Should(BeNumerically(">=", outlives))
		Expect(viewed.over()).To(BeFalse())
		_, err := switchPower(ctx, editor, name, v1beta1.PowerActionHardReboot)
		Expect(err).NotTo(HaveOccurred())
		Eventually(viewed.seen).WithContext(ctx).Should(ContainElement(ContainSubstring("boot 6, datasource")))
		Expect(viewed.over()).To(BeFalse())

		all, err := editor.GetLogs(name, &v1beta1.InstanceLogOptions{}).DoRaw(ctx)
		Expect(err).NotTo(HaveOccurred())
		lines := viewed.seen()
		Expect(string(all)).To(ContainSubstring(strings.Join(lines[:len(lines)-1], "\n")))
	})

	It("ends its log when it is deleted", func(ctx SpecContext) {
		Expect(editor.Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
		Eventually(viewed.over).WithContext(ctx).Should(BeTrue())
	})
})
