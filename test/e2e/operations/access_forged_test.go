// SPDX-License-Identifier: Apache-2.0

package operations

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/pki"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

// frontProxyName is the common name with which the cluster speaks for people.
const frontProxyName = "front-proxy"

// remotely are the headers by which the front proxy says for whom it asks.
func remotely(user string, groups ...string) http.Header {
	return http.Header{
		"X-Remote-User":  {user},
		"X-Remote-Group": groups,
		"X-Remote-Uid":   {"1"},
		"X-Remote-Extra-" + url.PathEscape(principal.OrganizationIDsExtra): {string(acme)},
	}
}

// pkiFile is a certificate or a key of the environment.
func pkiFile(name string) []byte {
	GinkgoHelper()
	content, err := os.ReadFile(filepath.Join(string(Env.Folder), "pki", name))
	Expect(err).NotTo(HaveOccurred())
	return content
}

// presenting is a client with a certificate, nil for none.
func presenting(certificate, key []byte) asker {
	GinkgoHelper()
	config := rest.AnonymousClientConfig(ConfigOf(environment.Admin))
	config.CertData, config.KeyData = certificate, key
	return askerFor(config)
}

// selfMade has a certificate of an authority that somebody made, whatever it
// is called.
func selfMade(authority, name string, groups ...string) asker {
	GinkgoHelper()
	own, err := pki.NewAuthority(authority)
	Expect(err).NotTo(HaveOccurred())
	pair, err := own.Client(name, groups...)
	Expect(err).NotTo(HaveOccurred())
	return presenting(pair.Certificate, pair.Key)
}

// beNobody matches the answer to who is not known.
var beNobody = And(HaveField("Code", http.StatusUnauthorized), WithTransform(reply.Status, HaveField("Reason", metav1.StatusReasonUnauthorized)))

const betaListPath = apiPath + "/namespaces/beta/instances"

var _ = Describe("Headers that only the front proxy may send, straight to the API server", func() {
	// beRefusedTo matches the refusal of a list in beta to a user.
	beRefusedTo := func(user string) OmegaMatcher {
		return And(HaveField("Code", http.StatusForbidden), HaveField("Body", ContainSubstring(
			`User \"`+user+`\" cannot list resource \"instances\" in API group \"compute.unikorn-cloud.org\" in the namespace \"beta\"`)))
	}

	// claims are who is claimed to ask, all of whom may list in beta.
	claims := map[string]http.Header{
		"an administrator": remotely("admin", "system:masters", "system:authenticated"),
		"a person":         remotely(environment.BetaEditor, "system:authenticated"),
	}

	DescribeTable("do not make anybody that user",
		func(ctx SpecContext, who func() asker, answer OmegaMatcher) {
			asking := who()
			for _, replica := range Replicas() {
				for claim, headers := range claims {
					Expect(asking.at(replica).get(ctx, betaListPath, headers)).To(answer, claim)
					Expect(asking.at(replica).send(ctx, http.MethodDelete, betaListPath, "", "", headers)).
						To(HaveField("Code", BeElementOf(http.StatusUnauthorized, http.StatusForbidden)), claim)
				}
			}
		},
		Entry("who has no certificate", func() asker { return presenting(nil, nil) }, beNobody),
		Entry("who has a person's certificate: it is that person who asks",
			func() asker { return askerFor(ConfigOf(environment.AlphaViewer)) }, beRefusedTo(environment.AlphaViewer)),
		Entry("whom the authority of people calls as the front proxy is called",
			func() asker { return askerFor(newcomer(frontProxyName)) }, beRefusedTo(frontProxyName)),
		Entry("whose own authority calls them so", func() asker { return selfMade("somebody", frontProxyName) }, beNobody),
		Entry("whose own authority is called as the front proxy's is",
			func() asker { return selfMade("devcluster front-proxy-ca", frontProxyName, "system:masters") }, beNobody),
	)

	It("make the front proxy that user", func(ctx SpecContext) {
		proxy := presenting(pkiFile("front-proxy.crt"), pkiFile("front-proxy.key"))
		for _, replica := range Replicas() {
			for claim, headers := range claims {
				Expect(proxy.at(replica).get(ctx, betaListPath, headers)).To(HaveField("Code", http.StatusOK), claim)
			}
			Expect(proxy.at(replica).get(ctx, betaListPath, remotely(environment.AlphaViewer))).To(beRefusedTo(environment.AlphaViewer))
			Expect(proxy.at(replica).get(ctx, betaListPath, nil)).To(beNobody, "it is nobody by itself")
		}
	})

	It("do not pass through the cluster", func(ctx SpecContext) {
		viewer := askerFor(ConfigOf(environment.AlphaViewer))
		for claim, headers := range claims {
			Expect(viewer.get(ctx, betaListPath, headers)).To(beRefusedTo(environment.AlphaViewer), claim)
			Expect(presenting(nil, nil).get(ctx, betaListPath, headers)).To(beRefusedTo(anonymous), claim)
			// Not even what the user is said to be besides.
			Expect(viewer.get(ctx, listPath, headers)).To(HaveField("Code", http.StatusOK), claim)
		}
	})
})

var _ = Describe("Asking as somebody else", func() {
	impersonating := []http.Header{
		{"Impersonate-User": {environment.BetaEditor}},
		{"Impersonate-User": {"admin"}, "Impersonate-Group": {"system:masters"}},
		{"Impersonate-User": {environment.AlphaEditor}, "Impersonate-Extra-Unikorn-Cloud.org%2forganization-Ids": {string(acme)}},
		{"Impersonate-User": {"system:serviceaccount:unikorn-compute:instance-apiserver"}},
	}

	It("takes the right to, at the cluster and at the API server", func(ctx SpecContext) {
		person := askerFor(ConfigOf(environment.AlphaViewer))
		for _, server := range append(Replicas(), person.server) {
			for _, headers := range impersonating {
				for _, path := range []string{listPath, betaListPath} {
					answer := person.at(server).get(ctx, path, headers)
					Expect(answer.Code).To(Equal(http.StatusForbidden), "%v", headers)
					Expect(answer.Status().Message).To(
						ContainSubstring(`User "`+environment.AlphaViewer+`" cannot impersonate`), "%v", headers)
				}
			}
			// A group without a user is nobody.
			Expect(person.at(server).get(ctx, listPath, http.Header{"Impersonate-Group": {"system:masters"}}).Code).
				NotTo(Equal(http.StatusOK))
		}
	})

	It("is what administrators may", func(ctx SpecContext) {
		admin := askerFor(ConfigOf(environment.Admin))
		for _, server := range append(Replicas(), admin.server) {
			headers := http.Header{"Impersonate-User": {environment.AlphaViewer}}
			Expect(admin.at(server).get(ctx, listPath, headers).Code).To(Equal(http.StatusOK))
			Expect(admin.at(server).get(ctx, betaListPath, headers).Code).To(Equal(http.StatusForbidden))
		}
	})
})
