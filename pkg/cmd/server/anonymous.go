// SPDX-License-Identifier: Apache-2.0

package server

import (
	"net/http"
	"slices"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
)

// healthPaths are what anybody may ask.
var healthPaths = []string{"/healthz", "/livez", "/readyz"}

// anonymousForHealth takes nobody for anonymous but who asks for the server's
// health: clusters let everybody read more than that, such as the version.
//
// The options of the API server library have a field for this, which is not
// looked at.
func anonymousForHealth(all authenticator.Request) authenticator.Request {
	return authenticator.RequestFunc(func(request *http.Request) (*authenticator.Response, bool, error) {
		response, ok, err := all.AuthenticateRequest(request)
		if ok && response.User.GetName() == user.Anonymous && !slices.Contains(healthPaths, request.URL.Path) {
			return nil, false, err
		}
		return response, ok, err
	})
}
