// SPDX-License-Identifier: Apache-2.0

package unikorn

import (
	"net/http"
	"sync"

	"k8s.io/klog/v2"
)

// advisor tells the operator, in the log, why the platform refuses this service
// and what to do about it: once per cause, and again only after the operation
// worked in between.
type advisor struct {
	mu   sync.Mutex
	told map[string]map[string]bool
}

// refused is called for every call the service refused this service.
func (a *advisor) refused(failed *Error) {
	cause := cause(failed)
	if !a.first(failed.Operation, cause) {
		return
	}
	klog.ErrorS(failed, "The platform refuses this service", "service", failed.Service,
		"operation", failed.Operation, "cause", cause, "advice", advice[cause])
}

// untrusted is called when the service's certificate was not accepted.
func (a *advisor) untrusted(failed *Error) {
	if !a.first(failed.Operation, causeUntrusted) {
		return
	}
	klog.ErrorS(failed, "The service's certificate is not trusted", "service", failed.Service,
		"operation", failed.Operation, "advice", advice[causeUntrusted])
}

// worked is called for every call the service answered.
func (a *advisor) worked(operation string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.told, operation)
}

func (a *advisor) first(operation, cause string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.told == nil {
		a.told = map[string]map[string]bool{}
	}
	if a.told[operation] == nil {
		a.told[operation] = map[string]bool{}
	}
	if a.told[operation][cause] {
		return false
	}
	a.told[operation][cause] = true
	return true
}

const (
	causeHandshake = "handshake"
	causeIdentity  = "identity"
	causePrincipal = "principal"
	causeRole      = "role"
	causeVersion   = "version"
	causeUntrusted = "untrusted"
)

func cause(failed *Error) string {
	switch failed.StatusCode {
	case 0:
		return causeHandshake
	case http.StatusUnauthorized:
		return causeIdentity
	case http.StatusBadRequest:
		return causePrincipal
	case http.StatusForbidden:
		return causeRole
	}
	return causeVersion
}

var advice = map[string]string{
	causeHandshake: "The service ends the TLS handshake. Check that the client certificate (--client-cert-file) has not expired and comes from an authority the service trusts.",
	causeIdentity:  "The service does not accept the client certificate (--client-cert-file). Check its expiry, its authority and that the ingress passes it on.",
	causePrincipal: "The service cannot use the request. Check that its ingress passes on the client certificate and X-Principal, that the key (--client-key-file) is RSA and belongs to the certificate, and that the service's version is supported.",
	causeRole:      "The role identity has for the certificate's common name does not allow the operation. Register the common name with the system role of the compute service.",
	causeVersion:   "The service does not know the operation in this form, or refuses it for what this service does not expect. Check the host flag and that the service's version is supported.",
	causeUntrusted: "Check that the CA file of the service holds the authority that issued its serving certificate, and that the host flag has a name the certificate is for.",
}
