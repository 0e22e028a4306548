// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/unikorn-cloud/instance-apiserver/pkg/identity"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn/unikorntest"
)

const (
	acme  ids.OrganizationID = "0a000000-0000-4000-8000-0000000000a0"
	alpha ids.ProjectID      = "0a000000-0000-4000-8000-0000000000a1"
	paid  ids.AllocationID   = "aa000000-0000-4000-8000-000000000001"
	path                     = "/api/v1/organizations/" + string(acme) + "/projects/" + string(alpha)
)

var credential = principal.Service(principal.Principal{
	OrganizationID: acme, OrganizationIDs: []ids.OrganizationID{acme}, ProjectID: alpha,
	Type: principal.TypeUser, Actor: "alice",
})

var charge = identity.AllocationWrite{
	Metadata: unikorn.WriteMetadata{Name: "k8s-1"},
	Spec: identity.AllocationSpec{Kind: "computeinstances.compute.unikorn-cloud.org", ID: "i", Allocations: []identity.ResourceAllocation{
		{Kind: "servers", Committed: 1}, {Kind: "gpus"}, {Kind: "floatingips", Committed: 1},
	}},
}

const chargeBody = `{"metadata":{"name":"k8s-1"},"spec":{"allocations":[` +
	`{"committed":1,"kind":"servers","reserved":0},{"committed":0,"kind":"gpus","reserved":0},{"committed":1,"kind":"floatingips","reserved":0}],` +
	`"id":"i","kind":"computeinstances.compute.unikorn-cloud.org"}}`

func serve(t *testing.T, status int, body string) (*identity.Client, func() string) {
	t.Helper()
	requests := make(chan string, 1)
	pki := unikorntest.NewPKI(t, "unikorn-compute")
	server := pki.Start(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		content, err := io.ReadAll(req.Body)
		if err != nil {
			panic(err)
		}
		if req.Header.Get("X-Principal") == "" || req.Header.Get("X-Impersonate") != "" {
			panic("not as the service")
		}
		requests <- strings.TrimSpace(fmt.Sprintf("%s %s %s", req.Method, req.URL.RequestURI(), content))
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	client, err := identity.New(unikorn.Config{Host: server.URL, TLS: pki.Files(t)})
	if err != nil {
		t.Fatal(err)
	}
	return client, func() string { return <-requests }
}

func TestRequests(t *testing.T) {
	const allocation = `{"metadata":{"id":"` + string(paid) + `"},"spec":{"allocations":[]}}`
	tests := map[string]struct {
		call   func(c *identity.Client) (*identity.Allocation, error)
		status int
		answer string
		want   string
	}{
		"create": {func(c *identity.Client) (*identity.Allocation, error) {
			return c.CreateAllocation(t.Context(), credential, acme, alpha, charge)
		}, 201, allocation, "POST " + path + "/allocations " + chargeBody},
		"get": {func(c *identity.Client) (*identity.Allocation, error) {
			return c.Allocation(t.Context(), credential, acme, alpha, paid)
		}, 200, allocation, "GET " + path + "/allocations/" + string(paid)},
		"update": {func(c *identity.Client) (*identity.Allocation, error) {
			return c.UpdateAllocation(t.Context(), credential, acme, alpha, paid, charge)
		}, 200, allocation, "PUT " + path + "/allocations/" + string(paid) + " " + chargeBody},
		"delete": {func(c *identity.Client) (*identity.Allocation, error) {
			return nil, c.DeleteAllocation(t.Context(), credential, acme, alpha, paid)
		}, 202, "", "DELETE " + path + "/allocations/" + string(paid)},
		"project": {func(c *identity.Client) (*identity.Allocation, error) {
			_, err := c.Project(t.Context(), credential, acme, alpha)
			return nil, err
		}, 200, "{}", "GET " + path},
		"quotas": {func(c *identity.Client) (*identity.Allocation, error) {
			_, err := c.Quotas(t.Context(), credential, acme)
			return nil, err
		}, 200, `{"quotas":null}`, "GET /api/v1/organizations/" + string(acme) + "/quotas"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			client, request := serve(t, test.status, test.answer)
			got, err := test.call(client)
			if err != nil {
				t.Fatal(err)
			}
			if got != nil && got.ID() != paid {
				t.Errorf("got %v", got)
			}
			if diff := cmp.Diff(test.want, request()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNullIsNotAnObject(t *testing.T) {
	client, _ := serve(t, 200, "null")
	if _, err := client.Quotas(t.Context(), credential, acme); !unikorn.IsUnavailable(err) {
		t.Errorf("got %v", err)
	}
}

func TestQuotaExceeded(t *testing.T) {
	tests := map[string]struct {
		said string
		want string
		kind string
	}{
		"as we say it":         {said: "servers: total 11 exceeds quota limit 10", want: "servers: total 11 exceeds quota limit 10", kind: "servers"},
		"otherwise":            {said: "allocation for gpus would total 3 which is over the quota limit of 2", want: "gpus: total 3 exceeds quota limit 2", kind: "gpus"},
		"limit first":          {said: "quota limit 2 for gpus would be exceeded by 3", want: "gpus: total 3 exceeds quota limit 2", kind: "gpus"},
		"quoted":               {said: `quota limit (10) of "servers" exceeded: 11`, want: "servers: total 11 exceeds quota limit 10", kind: "servers"},
		"no kind":              {said: "total 11 exceeds quota limit 10", want: "total 11 exceeds quota limit 10"},
		"kind not asked for":   {said: "networks: total 6 exceeds quota limit 5", want: "networks: total 6 exceeds quota limit 5"},
		"two kinds":            {said: "servers and gpus: total 11 exceeds quota limit 10", want: "servers and gpus: total 11 exceeds quota limit 10"},
		"no numbers":           {said: "servers: quota limit reached", want: "servers: quota limit reached"},
		"too many numbers":     {said: "servers: 1 of 11 exceeds quota limit 10", want: "servers: 1 of 11 exceeds quota limit 10"},
		"numbers that are odd": {said: "servers: total 9 exceeds quota limit 10", want: "servers: total 9 exceeds quota limit 10"},
		"number out of range":  {said: "servers: total 99999999999999999999 exceeds quota limit 10", want: "servers: total 99999999999999999999 exceeds quota limit 10"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			client, _ := serve(t, 403, fmt.Sprintf(`{"error":"forbidden","error_description":%q}`, test.said))
			_, err := client.CreateAllocation(t.Context(), credential, acme, alpha, charge)
			var exceeded *identity.QuotaExceededError
			if !errors.As(err, &exceeded) {
				t.Fatalf("got %v", err)
			}
			if err.Error() != test.want || exceeded.Kind != test.kind {
				t.Errorf("kind %q, message %q", exceeded.Kind, err)
			}
			if !apierrors.IsForbidden(err) || exceeded.Status().Message != test.want {
				t.Errorf("status %+v", exceeded.Status())
			}
			if _, ok := apierrors.StatusCause(err, identity.CauseQuotaExceeded); !ok {
				t.Error("no cause")
			}
			if unikorn.OutcomeUnknown(err) || !unikorn.IsForbidden(err) {
				t.Errorf("the failed call is lost: %v", err)
			}
		})
	}
}

func TestQuotaExceededOnUpdate(t *testing.T) {
	client, _ := serve(t, 403, `{"error":"forbidden","error_description":"servers: total 11 exceeds quota limit 10"}`)
	_, err := client.UpdateAllocation(t.Context(), credential, acme, alpha, paid, charge)
	var exceeded *identity.QuotaExceededError
	if !errors.As(err, &exceeded) || exceeded.Total != 11 || exceeded.Limit != 10 {
		t.Errorf("got %v", err)
	}
}

func TestDenialIsNotQuota(t *testing.T) {
	client, _ := serve(t, 403, `{"error":"forbidden","error_description":"rbac: servers 11 10"}`)
	_, err := client.CreateAllocation(t.Context(), credential, acme, alpha, charge)
	var exceeded *identity.QuotaExceededError
	if err == nil || errors.As(err, &exceeded) || !apierrors.IsInternalError(err) {
		t.Errorf("got %v", err)
	}
}

func TestProjectThatIsGone(t *testing.T) {
	client, _ := serve(t, 500, `{"error":"server_error","error_description":"unhandled"}`)
	err := client.DeleteAllocation(t.Context(), credential, acme, alpha, paid)
	if !unikorn.IsServerError(err) || unikorn.IsNotFound(err) || !unikorn.OutcomeUnknown(err) {
		t.Errorf("got %v", err)
	}
}

func TestAllocationWithoutID(t *testing.T) {
	client, _ := serve(t, 201, `{"metadata":{},"spec":{}}`)
	_, err := client.CreateAllocation(t.Context(), credential, acme, alpha, charge)
	if !unikorn.OutcomeUnknown(err) {
		t.Errorf("got %v", err)
	}
}
