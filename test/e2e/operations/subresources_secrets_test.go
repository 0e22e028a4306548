// SPDX-License-Identifier: Apache-2.0

package operations

import (
	"context"
	"encoding/base64"
	"net/http"
	"os"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

// setVerbosity sets how much the replicas of the API server log.
func setVerbosity(ctx context.Context, level string) {
	GinkgoHelper()
	client, err := rest.HTTPClientFor(ConfigOf(environment.Admin))
	Expect(err).NotTo(HaveOccurred())
	for _, replica := range Replicas() {
		request, err := http.NewRequestWithContext(ctx, http.MethodPut, replica+"/debug/flags/v", strings.NewReader(level))
		Expect(err).NotTo(HaveOccurred())
		response, err := client.Do(request)
		Expect(err).NotTo(HaveOccurred())
		Expect(response.Body.Close()).To(Succeed())
		Expect(response.StatusCode).To(Equal(http.StatusOK))
	}
}

// exposed are the metrics of the replicas of the API server.
func exposed(ctx context.Context) string {
	GinkgoHelper()
	client, err := rest.HTTPClientFor(ConfigOf(environment.Admin))
	Expect(err).NotTo(HaveOccurred())
	var all strings.Builder
	for _, replica := range Replicas() {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, replica+"/metrics", http.NoBody)
		Expect(err).NotTo(HaveOccurred())
		response, err := client.Do(request)
		Expect(err).NotTo(HaveOccurred())
		Expect(response.Write(&all)).To(Succeed())
		Expect(response.Body.Close()).To(Succeed())
	}
	return all.String()
}

var _ = Describe("Keys, console sessions, tokens and user data", func() {
	It("are in no log however much is logged, in no metric and in no event", func(ctx SpecContext) {
		setVerbosity(ctx, "10")
		DeferCleanup(func(ctx SpecContext) { setVerbosity(ctx, "0") })
		const userData = "#cloud-config\nruncmd: [echo the-secret-of-web-1]\n"
		Create(ctx, "web-1", func(instance *v1beta1.Instance) { instance.Spec.UserData = []byte(userData) })
		AwaitRunning(ctx, "web-1")
		AsEditor(ctx, "-n", Alpha, "label", "inst/web-1", "a=b")
		AsEditor(ctx, "-n", Alpha, "get", "inst", "-o", "yaml")

		// Encoded it is longer than this, and begins like that of others.
		secrets := []string{"the-secret-of-web-1", base64.StdEncoding.EncodeToString([]byte(userData))[20:50]}
		secrets = append(secrets, reviewedToken(ctx))
		// Often enough for each replica.
		for range 4 {
			secrets = append(secrets, handedOut(ctx, "web-1")...)
		}

		logs, err := Env.Logs()
		Expect(err).NotTo(HaveOccurred())
		verbose := 0
		for _, log := range logs {
			content, err := os.ReadFile(log)
			Expect(err).NotTo(HaveOccurred())
			// What would be found if it were there.
			verbose += strings.Count(string(content), "/web-1/sshkey")
			expectNone(string(content), secrets, log)
		}
		Expect(verbose).To(BeNumerically(">=", 4), "requests are not logged")
		expectNone(exposed(ctx), secrets, "metrics")
		events, err := ClientOf(environment.Admin).CoreV1().Events(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		expectNone(events.String(), secrets, "events")
	})
})

// reviewedToken is the token of a service account which each replica has had
// reviewed.
func reviewedToken(ctx context.Context) string {
	GinkgoHelper()
	ServiceAccount(ctx, "robot")
	issued, err := ClientOf(environment.Admin).CoreV1().ServiceAccounts(Alpha).
		CreateToken(ctx, "robot", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	for _, replica := range Replicas() {
		answer := presenting(nil, nil).at(replica).get(ctx, listPath, bearing(issued.Status.Token))
		Expect(answer.Code).To(Equal(http.StatusOK))
	}
	return issued.Status.Token
}

// expectNone does not print what it looks at, which could have the secrets.
func expectNone(text string, secrets []string, where string) {
	GinkgoHelper()
	for _, secret := range secrets {
		Expect(strings.Contains(text, secret)).To(BeFalse(), where)
	}
}
