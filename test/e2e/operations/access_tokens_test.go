// SPDX-License-Identifier: Apache-2.0

package operations

import (
	"crypto"
	"net/http"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/keyutil"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/pki"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

// tokenIssuer is who signs the tokens of the cluster, and their audience.
const tokenIssuer = "https://kubernetes.default.svc"

// accountToken is what a token of a service account says.
type accountToken struct {
	jwt.Claims
	Kubernetes boundAccount `json:"kubernetes.io"`
}

type boundAccount struct {
	Namespace      string    `json:"namespace"`
	ServiceAccount reference `json:"serviceaccount"`
}

type reference struct {
	Name string `json:"name"`
	UID  string `json:"uid"`
}

// tokenFor is a good token of a service account for an hour from a time on.
func tokenFor(account *corev1.ServiceAccount, from time.Time) accountToken {
	return accountToken{
		Claims: jwt.Claims{
			Issuer: tokenIssuer, Audience: jwt.Audience{tokenIssuer},
			Subject:  "system:serviceaccount:" + account.Namespace + ":" + account.Name,
			IssuedAt: jwt.NewNumericDate(from), NotBefore: jwt.NewNumericDate(from), Expiry: jwt.NewNumericDate(from.Add(time.Hour)),
		},
		Kubernetes: boundAccount{Namespace: account.Namespace, ServiceAccount: reference{account.Name, string(account.UID)}},
	}
}

// signed is a token as it is sent.
func (t accountToken) signed(key crypto.PrivateKey) string {
	GinkgoHelper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, nil)
	Expect(err).NotTo(HaveOccurred())
	token, err := jwt.Signed(signer).Claims(t).Serialize()
	Expect(err).NotTo(HaveOccurred())
	return token
}

// signingKey is the cluster's.
func signingKey() crypto.PrivateKey {
	GinkgoHelper()
	key, err := keyutil.ParsePrivateKeyPEM(pkiFile("service-account.key"))
	Expect(err).NotTo(HaveOccurred())
	return key
}

func bearing(token string) http.Header {
	return http.Header{"Authorization": {"Bearer " + token}}
}

var _ = Describe("A token", Ordered, ContinueOnFailure, func() {
	var (
		account *corev1.ServiceAccount
		nobody  asker
		servers []string
	)

	BeforeAll(func(ctx SpecContext) {
		ServiceAccount(ctx, "robot")
		var err error
		account, err = ClientOf(environment.Admin).CoreV1().ServiceAccounts(Alpha).Get(ctx, "robot", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		nobody = presenting(nil, nil)
		servers = append(Replicas(), nobody.server)
	})

	It("of a service account is good for what that may, at the cluster and at the API server", func(ctx SpecContext) {
		issued, err := ClientOf(environment.Admin).CoreV1().ServiceAccounts(Alpha).
			CreateToken(ctx, account.Name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		for _, token := range []string{issued.Status.Token, tokenFor(account, time.Now()).signed(signingKey())} {
			for _, server := range servers {
				Expect(nobody.at(server).get(ctx, listPath, bearing(token)).Code).To(Equal(http.StatusOK))
				Expect(nobody.at(server).get(ctx, betaListPath, bearing(token))).To(And(
					HaveField("Code", http.StatusForbidden), HaveField("Body", ContainSubstring("system:serviceaccount:alpha:robot"))))
			}
		}
	})

	DescribeTable("is nobody's, whatever it says: 401 and nothing else",
		func(ctx SpecContext, invent func() string) {
			token := invent()
			for _, server := range servers {
				for _, path := range []string{listPath, listPath + "/web-1/sshkey", apiPath, "/version"} {
					Expect(nobody.at(server).get(ctx, path, bearing(token))).To(beNobody, path)
				}
				Expect(nobody.at(server).send(ctx, http.MethodDelete, listPath, "", "", bearing(token))).To(beNobody)
			}
		},
		Entry("that has expired", func() string { return tokenFor(account, time.Now().Add(-2*time.Hour)).signed(signingKey()) }),
		Entry("that is for later", func() string { return tokenFor(account, time.Now().Add(time.Hour)).signed(signingKey()) }),
		Entry("for another audience", func() string {
			token := tokenFor(account, time.Now())
			token.Audience = jwt.Audience{"vault"}
			return token.signed(signingKey())
		}),
		Entry("of another issuer", func() string {
			token := tokenFor(account, time.Now())
			token.Issuer = "https://example.com"
			return token.signed(signingKey())
		}),
		Entry("signed with another key", func() string {
			key, err := pki.NewKey()
			Expect(err).NotTo(HaveOccurred())
			return tokenFor(account, time.Now()).signed(key)
		}),
		Entry("of an earlier service account of that name", func() string {
			token := tokenFor(account, time.Now())
			token.Kubernetes.ServiceAccount.UID = "00000000-0000-4000-8000-000000000000"
			return token.signed(signingKey())
		}),
		Entry("of no service account", func() string {
			return tokenFor(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: Alpha, Name: "nobody", UID: account.UID}}, time.Now()).signed(signingKey())
		}),
		Entry("that is not signed", func() string {
			return "eyJhbGciOiJub25lIn0.eyJzdWIiOiJzeXN0ZW06c2VydmljZWFjY291bnQ6YWxwaGE6cm9ib3QifQ."
		}),
		Entry("that is none", func() string { return "admin" }),
	)

	It("of a service account that is deleted is nobody's", func(ctx SpecContext) {
		accounts := ClientOf(environment.Admin).CoreV1().ServiceAccounts(Alpha)
		gone, err := accounts.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "gone"}}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		issued, err := accounts.CreateToken(ctx, gone.Name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(accounts.Delete(ctx, gone.Name, metav1.DeleteOptions{})).To(Succeed())
		for _, server := range servers {
			// The cluster may remember for a few seconds.
			Eventually(func() reply { return nobody.at(server).get(ctx, listPath, bearing(issued.Status.Token)) }).Should(beNobody)
		}
	})

	It("that is good does not help who may not", func(ctx SpecContext) {
		// Nor does a certificate beside it: one of them is looked at.
		both := askerFor(ConfigOf(environment.AlphaViewer))
		good := tokenFor(account, time.Now()).signed(signingKey())
		for _, server := range servers {
			Expect(both.at(server).get(ctx, betaListPath, bearing(good)).Code).To(Equal(http.StatusForbidden))
		}
	})
})
