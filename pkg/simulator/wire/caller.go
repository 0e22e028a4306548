// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"net/http"

	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
)

// Caller is who sent a request.
type Caller struct {
	// Service is the common name of the client certificate.
	Service string
	// Principal is whom the service says it calls for.
	Principal principal.Principal
	// Impersonate asks to be held to the principal's rights too.
	Impersonate bool
}

// authenticate reads who sent a request. TLS has checked the certificate, if
// there was one; nobody has a token.
func authenticate(r *http.Request) (Caller, error) {
	if r.Header.Get("Authorization") != "" {
		return Caller{}, Error(http.StatusUnauthorized, "the token is not valid")
	}
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return Caller{}, Error(http.StatusUnauthorized, "neither a client certificate nor a token")
	}
	certificate := r.TLS.PeerCertificates[0]
	header := r.Header.Get("X-Principal")
	if header == "" {
		return Caller{}, Error(http.StatusBadRequest, "X-Principal is missing")
	}
	who, form, err := principal.Decode(header, certificate.PublicKey)
	if err != nil {
		return Caller{}, Error(http.StatusBadRequest, "X-Principal cannot be read")
	}
	caller := Caller{
		Service:     certificate.Subject.CommonName,
		Principal:   who,
		Impersonate: form == principal.FormA && r.Header.Get("X-Impersonate") == "true",
	}
	if caller.Impersonate && who.Actor == "" {
		return Caller{}, Error(http.StatusBadRequest, "there is no actor to impersonate")
	}
	return caller, nil
}
