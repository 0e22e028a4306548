// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/requestlog"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
)

// ForgetRequests begins the log of requests to the platform anew.
func ForgetRequests(ctx context.Context) {
	GinkgoHelper()
	Expect(Simulator().ForgetRequests(ctx)).To(Succeed())
}

// RequestsIn are the requests to the platform since they were forgotten whose
// principal has the form: A is the API server's, B is the controller's.
func RequestsIn(ctx context.Context, form principal.Form) []requestlog.Entry {
	GinkgoHelper()
	all, err := Simulator().Requests(ctx)
	Expect(err).NotTo(HaveOccurred())
	var found []requestlog.Entry
	for _, request := range all {
		Expect(request.PrincipalForm).NotTo(BeEmpty(), "%s %s", request.Method, request.Path)
		if request.PrincipalForm == string(form) {
			found = append(found, request)
		}
	}
	return found
}

// Asked is what the API server asked the platform since requests were
// forgotten, each by its service, method and the end of its path.
func Asked(ctx context.Context) []string {
	GinkgoHelper()
	lines := []string{}
	for _, request := range RequestsIn(ctx, principal.FormA) {
		lines = append(lines, request.Service+" "+request.Method+" "+ShortPath(request.Path))
	}
	return lines
}

// ShortPath leaves out of a path what is the same in all specs.
func ShortPath(path string) string {
	for _, prefix := range []string{
		"/api/v1/organizations/" + string(world.Acme) + "/regions/" + string(world.North) + "/",
		"/api/v1/organizations/" + string(world.Acme) + "/projects/" + string(world.Alpha) + "/",
		"/api/v1/organizations/" + string(world.Acme) + "/",
		"/api/v2/regions/" + string(world.North) + "/",
		"/api/v2/",
	} {
		if short, ok := strings.CutPrefix(path, prefix); ok {
			return short
		}
	}
	return path
}

// PlatformWrites are the requests that the platform's services were sent since
// they were forgotten and that could have changed something.
func PlatformWrites(ctx context.Context) []string {
	GinkgoHelper()
	requests, err := Simulator().Requests(ctx)
	Expect(err).NotTo(HaveOccurred())
	var writes []string
	for _, request := range requests {
		if request.Method != http.MethodGet {
			writes = append(writes, request.Service+" "+request.Method+" "+request.Path)
		}
	}
	return writes
}

// Tries is how often the platform was asked with the method for a path with the
// part, whatever became of it.
func Tries(ctx context.Context, method, part string) int {
	GinkgoHelper()
	requests, err := Simulator().Requests(ctx)
	Expect(err).NotTo(HaveOccurred())
	count := 0
	for _, request := range requests {
		if request.Method == method && strings.Contains(request.Path, part) {
			count++
		}
	}
	return count
}

// PrincipalOf is on whose behalf a request was made.
func PrincipalOf(request requestlog.Entry) principal.Principal {
	GinkgoHelper()
	var found principal.Principal
	Expect(json.Unmarshal(request.Principal, &found)).To(Succeed())
	return found
}
