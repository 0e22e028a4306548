// SPDX-License-Identifier: Apache-2.0

package server

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
)

func TestAnonymousForHealth(t *testing.T) {
	tests := map[string]struct {
		user, path string
		want       bool
	}{
		"nobody asks for health":     {user.Anonymous, "/healthz", true},
		"nobody asks for readiness":  {user.Anonymous, "/readyz", true},
		"nobody asks for one check":  {user.Anonymous, "/readyz/ping", false},
		"nobody asks for the API":    {user.Anonymous, "/apis/compute.unikorn-cloud.org/v1beta1/instances", false},
		"nobody asks for a version":  {user.Anonymous, "/version", false},
		"somebody asks for health":   {"alice", "/healthz", true},
		"somebody asks for anything": {"alice", "/version", true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			all := authenticator.RequestFunc(func(*http.Request) (*authenticator.Response, bool, error) {
				return &authenticator.Response{User: &user.DefaultInfo{Name: test.user}}, true, nil
			})
			response, ok, err := anonymousForHealth(all).AuthenticateRequest(httptest.NewRequestWithContext(t.Context(), http.MethodGet, test.path, http.NoBody))
			if err != nil || ok != test.want || (response != nil) != test.want {
				t.Errorf("got %v, %t, %v, want authenticated: %t", response, ok, err, test.want)
			}
		})
	}
}
