// SPDX-License-Identifier: Apache-2.0

package principal_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/util/keyutil"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
)

// alice is the test vector of docs/reference/wire.md, "Principal".
var alice = principal.Principal{
	OrganizationID: "11111111-1111-4111-8111-111111111111",
	ProjectID:      "22222222-2222-4222-8222-222222222222",
	Type:           principal.TypeUser,
	Actor:          "alice",
}

const aliceInFormA = "eyJvcmdhbml6YXRpb25JZCI6IjExMTExMTExLTExMTEtNDExMS04MTExLTExMTExMTExMTExMSIsInByb2plY3RJZCI6IjIyMjIyMjIyLTIyMjItNDIyMi04MjIyLTIyMjIyMjIyMjIyMiIsInR5cGUiOiJ1c2VyIiwiYWN0b3IiOiJhbGljZSJ9"

// keys is a key that can be replaced.
type keys struct{ pem []byte }

func (k *keys) CurrentCertKeyContent() (certificate, key []byte) { return nil, k.pem }

func (k *keys) replace(t testing.TB, key crypto.PrivateKey) {
	t.Helper()
	pem, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		t.Fatal(err)
	}
	k.pem = pem
}

func rsaKey(t testing.TB) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// header is what credential writes into a request.
func header(t testing.TB, credential principal.Credential) http.Header {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://region.example/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if err := credential(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	return req.Header
}

func TestFormA(t *testing.T) {
	for name, test := range map[string]struct {
		credential  principal.Credential
		impersonate string
	}{
		"service":     {principal.Service(alice), ""},
		"impersonate": {principal.Impersonate(alice), "true"},
	} {
		t.Run(name, func(t *testing.T) {
			got := header(t, test.credential)
			if got.Get("X-Principal") != aliceInFormA {
				t.Errorf("got %s", got.Get("X-Principal"))
			}
			if got.Get("X-Impersonate") != test.impersonate {
				t.Errorf("impersonate %q", got.Get("X-Impersonate"))
			}
			decoded, form, err := principal.Decode(got.Get("X-Principal"), nil)
			if err != nil || form != principal.FormA {
				t.Fatalf("form %s: %v", form, err)
			}
			if diff := cmp.Diff(alice, decoded); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFormB(t *testing.T) {
	key := rsaKey(t)
	source := &keys{}
	source.replace(t, key)
	signer, err := principal.NewSigner(source)
	if err != nil {
		t.Fatal(err)
	}
	sent := alice
	sent.OrganizationIDs = []ids.OrganizationID{alice.OrganizationID}
	got := header(t, signer.Sign(sent))
	if got.Get("X-Impersonate") != "" {
		t.Error("a signed principal is impersonated")
	}
	decoded, form, err := principal.Decode(got.Get("X-Principal"), key.Public())
	if err != nil || form != principal.FormB {
		t.Fatalf("form %s: %v", form, err)
	}
	want := principal.Principal{OrganizationID: alice.OrganizationID, ProjectID: alice.ProjectID, Actor: "alice"}
	if diff := cmp.Diff(want, decoded); diff != "" {
		t.Error(diff)
	}

	if _, _, err := principal.Decode(got.Get("X-Principal"), rsaKey(t).Public()); err == nil {
		t.Error("a signature of another key was accepted")
	}

	renewed := rsaKey(t)
	source.replace(t, renewed)
	if _, _, err := principal.Decode(header(t, signer.Sign(sent)).Get("X-Principal"), renewed.Public()); err != nil {
		t.Errorf("signed with another key than the current one: %v", err)
	}
}

func TestSignerNeedsRSA(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	source := &keys{}
	source.replace(t, key)
	if _, err := principal.NewSigner(source); err == nil {
		t.Error("an ECDSA key was accepted")
	}
	if _, err := principal.NewSigner(&keys{pem: []byte("no key")}); err == nil {
		t.Error("no key was accepted")
	}
}

func TestDecodeRefuses(t *testing.T) {
	key := rsaKey(t)
	sign := func(algorithm jose.SignatureAlgorithm, payload string) string {
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: key}, nil)
		if err != nil {
			t.Fatal(err)
		}
		object, err := signer.Sign([]byte(payload))
		if err != nil {
			t.Fatal(err)
		}
		compact, err := object.CompactSerialize()
		if err != nil {
			t.Fatal(err)
		}
		return compact
	}
	valid := sign(jose.PS512, `{"actor":"alice"}`)
	if _, _, err := principal.Decode(valid, key.Public()); err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(valid, ".")
	for name, value := range map[string]string{
		"empty":                  "",
		"no base64":              "%%%",
		"padded base64":          base64.URLEncoding.EncodeToString([]byte(`{"actor":"a"}`)),
		"base64 of no JSON":      base64.RawURLEncoding.EncodeToString([]byte("alice")),
		"base64 of null":         base64.RawURLEncoding.EncodeToString([]byte("null")),
		"base64 of another type": base64.RawURLEncoding.EncodeToString([]byte(`{"actor":1}`)),
		"other algorithm":        sign(jose.PS256, `{"actor":"alice"}`),
		"signed no JSON":         sign(jose.PS512, "alice"),
		"other payload":          parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(`{"actor":"mallory"}`)) + "." + parts[2],
		"no signature":           parts[0] + "." + parts[1] + ".",
	} {
		if p, form, err := principal.Decode(value, key.Public()); err == nil {
			t.Errorf("%s: got %v in form %s", name, p, form)
		}
	}
	if _, _, err := principal.Decode(valid, nil); err == nil {
		t.Error("form B without a key was accepted")
	}
}

func TestWhatCannotBeSent(t *testing.T) {
	source := &keys{}
	source.replace(t, rsaKey(t))
	signer, err := principal.NewSigner(source)
	if err != nil {
		t.Fatal(err)
	}
	half := principal.Principal{OrganizationID: alice.OrganizationID, Type: principal.TypeUser, Actor: "alice"}
	nobody, system, shared := alice, alice, alice
	nobody.Actor = ""
	system.Type = principal.TypeSystem
	shared.Type = principal.TypeService
	shared.OrganizationIDs = []ids.OrganizationID{"1", "2"}
	for name, credential := range map[string]principal.Credential{
		"half a scope":                        principal.Service(half),
		"half a scope impersonated":           principal.Impersonate(half),
		"half a scope signed":                 signer.Sign(half),
		"impersonated nobody":                 principal.Impersonate(nobody),
		"impersonated system":                 principal.Impersonate(system),
		"impersonated service of two owners":  principal.Impersonate(shared),
		"impersonated without any principal":  principal.Impersonate(principal.Principal{}),
		"impersonated service without owners": principal.Impersonate(principal.Principal{Type: principal.TypeService, Actor: "a"}),
	} {
		req := &http.Request{Header: http.Header{}}
		if err := credential(t.Context(), req); err == nil {
			t.Errorf("%s was sent", name)
		}
		if len(req.Header) != 0 {
			t.Errorf("%s: left %v", name, req.Header)
		}
	}
}

func FuzzDecode(f *testing.F) {
	key := rsaKey(f)
	source := &keys{}
	source.replace(f, key)
	signer, err := principal.NewSigner(source)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(aliceInFormA)
	f.Add(header(f, signer.Sign(alice)).Get("X-Principal"))
	f.Add("")
	f.Add("..")
	f.Add("e30")
	f.Fuzz(func(t *testing.T, value string) {
		decoded, form, err := principal.Decode(value, key.Public())
		if err != nil {
			if diff := cmp.Diff(principal.Principal{}, decoded); diff != "" {
				t.Errorf("a principal beside an error: %s", diff)
			}
			return
		}
		if form != principal.FormA {
			return
		}
		encoded, err := decoded.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := principal.Decode(encoded, nil)
		if err != nil {
			t.Fatal(err)
		}
		reencoded, err := again.Encode()
		if err != nil || reencoded != encoded {
			t.Errorf("%s became %s: %v", encoded, reencoded, err)
		}
	})
}
