// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/filters"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericapiserver "k8s.io/apiserver/pkg/server"
	genericfilters "k8s.io/apiserver/pkg/server/filters"
)

const inAlpha = "/apis/compute.unikorn-cloud.org/v1beta1/namespaces/alpha/instances"

// received is a request as the chain knows it.
func received(t *testing.T, method, uri string) (*http.Request, *genericapirequest.RequestInfo) {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), method, uri, nil)
	resolver := &genericapirequest.RequestInfoFactory{APIPrefixes: sets.NewString("apis"), GrouplessAPIPrefixes: sets.NewString("api")}
	info, err := resolver.NewRequestInfo(request)
	if err != nil {
		t.Fatal(err)
	}
	return request.WithContext(genericapirequest.WithRequestInfo(request.Context(), info)), info
}

func TestLongRunningRequests(t *testing.T) {
	longRunning := orFollowsLog(genericfilters.BasicLongRunningRequestCheck(sets.NewString("watch"), sets.NewString()))
	for _, test := range []struct {
		method, uri string
		want        bool
	}{
		{http.MethodGet, inAlpha + "/web-1/log?follow=true", true},
		{http.MethodGet, inAlpha + "/web-1/log?follow=1&tailLines=3", true},
		{http.MethodGet, inAlpha + "/web-1/log?follow", true},
		{http.MethodGet, inAlpha + "/web-1/log?follow=false", false},
		{http.MethodGet, inAlpha + "/web-1/log?follow=0", false},
		{http.MethodGet, inAlpha + "/web-1/log", false},
		{http.MethodPost, inAlpha + "/web-1/log?follow=true", false},
		{http.MethodGet, inAlpha + "/web-1/power?follow=true", false},
		{http.MethodPost, inAlpha + "/web-1/console?follow=true", false},
		{http.MethodGet, inAlpha + "/web-1?follow=true", false},
		{http.MethodGet, "/apis/example.org/v1/namespaces/alpha/instances/web-1/log?follow=true", false},
		{http.MethodGet, inAlpha + "?watch=true", true},
	} {
		request, info := received(t, test.method, test.uri)
		if got := longRunning(request, info); got != test.want {
			t.Errorf("%s %s: %v, want %v", test.method, test.uri, got, test.want)
		}
	}
	if request, _ := received(t, http.MethodGet, inAlpha); followsLog(request, nil) {
		t.Error("a request that nothing is known of is long-running")
	}
}

func TestSecretsAreNotStored(t *testing.T) {
	chain := withoutStoringSecrets(func(inner http.Handler, _ *genericapiserver.Config) http.Handler {
		return filters.WithCacheControl(inner)
	})(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }), nil)
	for path, want := range map[string]string{
		inAlpha + "/web-1/console": "no-store",
		inAlpha + "/web-1/sshkey":  "no-store",
		inAlpha + "/web-1/power":   "no-cache, private",
		inAlpha + "/web-1":         "no-cache, private",
		"/healthz":                 "no-cache, private",
		"/apis/example.org/v1/namespaces/alpha/instances/web-1/sshkey": "no-cache, private",
	} {
		request, _ := received(t, http.MethodPost, path)
		answer := httptest.NewRecorder()
		chain.ServeHTTP(answer, request)
		if got := answer.Header()["Cache-Control"]; len(got) != 1 || got[0] != want {
			t.Errorf("%s: Cache-Control %q, want %q", path, got, want)
		}
	}
}

// A web socket is followed by nobody who could be cut off.
func TestLogsAreNotFollowedOverWebSockets(t *testing.T) {
	chain := boundingFollowers(func(inner http.Handler, _ *genericapiserver.Config) http.Handler { return inner })(
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }), nil)
	for _, test := range []struct {
		path, upgrade string
		want          int
	}{
		{inAlpha + "/web-1/log?follow=true", "websocket", http.StatusBadRequest},
		{inAlpha + "/web-1/log?follow=true", "", http.StatusOK},
		{inAlpha + "/web-1/log", "websocket", http.StatusOK},
		{inAlpha + "?watch=true", "websocket", http.StatusOK},
	} {
		request, _ := received(t, http.MethodGet, test.path)
		if test.upgrade != "" {
			request.Header.Set("Connection", "Upgrade")
			request.Header.Set("Upgrade", test.upgrade)
		}
		answer := httptest.NewRecorder()
		chain.ServeHTTP(answer, request)
		if answer.Code != test.want {
			t.Errorf("%s, upgrade %q: %d, want %d", test.path, test.upgrade, answer.Code, test.want)
		}
	}
}
