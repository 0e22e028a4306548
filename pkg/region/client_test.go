// SPDX-License-Identifier: Apache-2.0

package region_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn/unikorntest"
)

const (
	acme    ids.OrganizationID = "0a000000-0000-4000-8000-0000000000a0"
	alpha   ids.ProjectID      = "0a000000-0000-4000-8000-0000000000a1"
	north   ids.RegionID       = "0c000000-0000-4000-8000-0000000000c0"
	network ids.NetworkID      = "0d000000-0000-4000-8000-0000000000d1"
	web     ids.ServerID       = "fec34c20-b989-5630-b619-2587bf28a979"
)

var alice = principal.Principal{
	OrganizationID: acme, OrganizationIDs: []ids.OrganizationID{acme}, ProjectID: alpha,
	Type: principal.TypeUser, Actor: "alice",
}

// received is what of a request matters here.
type received struct {
	Method, URI string
	Impersonate string
	Principal   bool
	Body        string
}

// serve answers every request in the same way and keeps the last one.
func serve(t *testing.T, status int, body string) (*region.Client, func() received) {
	t.Helper()
	requests := make(chan received, 1)
	pki := unikorntest.NewPKI(t, "unikorn-compute")
	server := pki.Start(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		content, err := io.ReadAll(req.Body)
		if err != nil {
			panic(err)
		}
		requests <- received{
			Method: req.Method, URI: req.URL.RequestURI(), Impersonate: req.Header.Get("X-Impersonate"),
			Principal: req.Header.Get("X-Principal") != "", Body: string(content),
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	return newClient(t, pki, server), func() received { return <-requests }
}

func newClient(t *testing.T, pki *unikorntest.PKI, server *httptest.Server) *region.Client {
	t.Helper()
	client, err := region.New(unikorn.Config{Host: server.URL, TLS: pki.Files(t)})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func selector() region.ServerSelector {
	return region.ServerSelector{
		NetworkSelector: region.NetworkSelector{Organization: acme, Project: alpha, Region: north, Network: network},
		Instance:        ids.InstanceID(web),
	}
}

// call is a method of the client with everything it needs.
type call func(ctx context.Context, c *region.Client, credential principal.Credential) error

func reading[T any](read func(ctx context.Context, c *region.Client, credential principal.Credential) (T, error)) call {
	return func(ctx context.Context, c *region.Client, credential principal.Credential) error {
		_, err := read(ctx, c, credential)
		return err
	}
}

func TestRequests(t *testing.T) {
	const onNetwork = "/api/v2/servers?organizationID=0a000000-0000-4000-8000-0000000000a0" +
		"&projectID=0a000000-0000-4000-8000-0000000000a1&regionID=0c000000-0000-4000-8000-0000000000c0" +
		"&networkID=0d000000-0000-4000-8000-0000000000d1"
	const named = `{"metadata":{"id":"a","organizationId":"o","projectId":"p"},"status":{"regionId":"r","networkId":"n"}}`
	server := "/api/v2/servers/" + string(web)
	lines := 20
	tests := map[string]struct {
		call   call
		answer string
		status int
		method string
		uri    string
		body   string
	}{
		"regions": {
			call: reading(func(ctx context.Context, c *region.Client, credential principal.Credential) ([]region.Region, error) {
				return c.Regions(ctx, credential, acme)
			}),
			answer: "null", method: "GET", uri: "/api/v1/organizations/" + string(acme) + "/regions",
		},
		"flavors": {
			call: reading(func(ctx context.Context, c *region.Client, credential principal.Credential) ([]region.Flavor, error) {
				return c.Flavors(ctx, credential, acme, north)
			}),
			answer: "[]", method: "GET", uri: "/api/v1/organizations/" + string(acme) + "/regions/" + string(north) + "/flavors",
		},
		"images": {
			call: reading(func(ctx context.Context, c *region.Client, credential principal.Credential) ([]region.Image, error) {
				return c.Images(ctx, credential, acme, north)
			}),
			answer: "[]", method: "GET", uri: "/api/v2/regions/" + string(north) + "/images?organizationID=" + string(acme) + "&scope=available&status=ready",
		},
		"network": {
			call: reading(func(ctx context.Context, c *region.Client, credential principal.Credential) (*region.Network, error) {
				return c.Network(ctx, credential, network)
			}),
			answer: named, method: "GET", uri: "/api/v2/networks/" + string(network),
		},
		"security group": {
			call: reading(func(ctx context.Context, c *region.Client, credential principal.Credential) (*region.SecurityGroup, error) {
				return c.SecurityGroup(ctx, credential, "e1")
			}),
			answer: named, method: "GET", uri: "/api/v2/securitygroups/e1",
		},
		"SSH certificate authority": {
			call: reading(func(ctx context.Context, c *region.Client, credential principal.Credential) (*region.SSHCertificateAuthority, error) {
				return c.SSHCertificateAuthority(ctx, credential, "f1")
			}),
			answer: named, method: "GET", uri: "/api/v2/sshcertificateauthorities/f1",
		},
		"servers": {
			call: reading(func(ctx context.Context, c *region.Client, credential principal.Credential) ([]region.Server, error) {
				return c.Servers(ctx, credential, selector())
			}),
			answer: "null", method: "GET", uri: onNetwork + "&tag=compute.unikorn-cloud.org%2Finstance-id%3D" + string(web),
		},
		"servers of a network": {
			call: reading(func(ctx context.Context, c *region.Client, credential principal.Credential) ([]region.Server, error) {
				return c.NetworkServers(ctx, credential, selector().NetworkSelector)
			}),
			answer: "[]", method: "GET", uri: onNetwork,
		},
		"server": {
			call: reading(func(ctx context.Context, c *region.Client, credential principal.Credential) (*region.Server, error) {
				return c.Server(ctx, credential, web)
			}),
			answer: named, method: "GET", uri: server,
		},
		"create server": {
			call: reading(func(ctx context.Context, c *region.Client, credential principal.Credential) (*region.Server, error) {
				return c.CreateServer(ctx, credential, region.ServerCreate{
					Metadata: unikorn.WriteMetadata{Name: "web-1", Tags: []unikorn.Tag{{Name: region.InstanceTag, Value: string(web)}}},
					Spec:     region.ServerCreateSpec{NetworkID: network, FlavorID: "f", ImageID: "i", UserData: []byte("#!/bin/sh")},
				})
			}),
			answer: named, status: 201, method: "POST", uri: "/api/v2/servers",
			body: `{"metadata":{"name":"web-1","tags":[{"name":"compute.unikorn-cloud.org/instance-id","value":"` + string(web) + `"}]},` +
				`"spec":{"networkId":"` + string(network) + `","flavorId":"f","imageId":"i","userData":"IyEvYmluL3No"}}`,
		},
		"update server": {
			call: reading(func(ctx context.Context, c *region.Client, credential principal.Credential) (*region.Server, error) {
				return c.UpdateServer(ctx, credential, web, region.ServerUpdate{
					Metadata: unikorn.WriteMetadata{Name: "web-1"},
					Spec: region.ServerSpec{FlavorID: "f", ImageID: "i", Networking: &region.ServerNetworking{
						PublicIP: true, SecurityGroups: []ids.SecurityGroupID{"e1"}, AllowedSourceAddresses: []string{"10.0.0.0/8"},
					}},
				})
			}),
			answer: named, status: 202, method: "PUT", uri: server,
			body: `{"metadata":{"name":"web-1"},"spec":{"flavorId":"f","imageId":"i",` +
				`"networking":{"securityGroups":["e1"],"publicIP":true,"allowedSourceAddresses":["10.0.0.0/8"]}}}`,
		},
		"delete server": {
			call: func(ctx context.Context, c *region.Client, credential principal.Credential) error {
				return c.DeleteServer(ctx, credential, web)
			},
			status: 202, method: "DELETE", uri: server,
		},
		"start": {call: power((*region.Client).StartServer), status: 202, method: "POST", uri: server + "/start"},
		"stop":  {call: power((*region.Client).StopServer), status: 202, method: "POST", uri: server + "/stop"},
		"soft":  {call: power((*region.Client).SoftRebootServer), status: 202, method: "POST", uri: server + "/softreboot"},
		"hard":  {call: power((*region.Client).HardRebootServer), status: 202, method: "POST", uri: server + "/hardreboot"},
		"console session": {
			call: reading(func(ctx context.Context, c *region.Client, credential principal.Credential) (*region.ConsoleSession, error) {
				return c.CreateConsoleSession(ctx, credential, web)
			}),
			answer: `{"url":"https://console.example/1"}`, method: "GET", uri: server + "/consolesessions",
		},
		"console output": {
			call: reading(func(ctx context.Context, c *region.Client, credential principal.Credential) (*region.ConsoleOutput, error) {
				return c.ConsoleOutput(ctx, credential, web, nil)
			}),
			answer: `{"contents":""}`, method: "GET", uri: server + "/consoleoutput",
		},
		"console output, last lines": {
			call: reading(func(ctx context.Context, c *region.Client, credential principal.Credential) (*region.ConsoleOutput, error) {
				return c.ConsoleOutput(ctx, credential, web, &lines)
			}),
			answer: `{"contents":"a"}`, method: "GET", uri: server + "/consoleoutput?length=20",
		},
		"snapshot": {
			call: reading(func(ctx context.Context, c *region.Client, credential principal.Credential) (*region.Image, error) {
				return c.CreateSnapshot(ctx, credential, web, region.SnapshotCreate{Metadata: unikorn.WriteMetadata{Name: "s"}, Spec: region.SnapshotCreateSpec{}})
			}),
			answer: named, status: 201, method: "POST", uri: server + "/snapshot", body: `{"metadata":{"name":"s"},"spec":{}}`,
		},
		"ssh key": {
			call: reading(func(ctx context.Context, c *region.Client, credential principal.Credential) (*region.SSHKey, error) {
				return c.SSHKey(ctx, credential, web)
			}),
			answer: `{"privateKey":"PEM"}`, method: "GET", uri: server + "/sshkey",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			client, request := serve(t, max(test.status, 200), test.answer)
			if err := test.call(t.Context(), client, principal.Impersonate(alice)); err != nil {
				t.Fatal(err)
			}
			got := request()
			if !jsonEqual(t, got.Body, test.body) {
				t.Errorf("body %s, want %s", got.Body, test.body)
			}
			got.Body = ""
			want := received{Method: test.method, URI: test.uri, Impersonate: "true", Principal: true}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func power(method func(*region.Client, context.Context, principal.Credential, ids.ServerID) error) call {
	return func(ctx context.Context, c *region.Client, credential principal.Credential) error {
		return method(c, ctx, credential, web)
	}
}

func jsonEqual(t *testing.T, a, b string) bool {
	t.Helper()
	if a == "" || b == "" {
		return a == b
	}
	var left, right any
	if err := json.Unmarshal([]byte(a), &left); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(b), &right); err != nil {
		t.Fatal(err)
	}
	return cmp.Equal(left, right)
}

func TestListsMustBeScoped(t *testing.T) {
	client, _ := serve(t, 200, "[]")
	for i := range 5 {
		incomplete := selector()
		*[]*string{
			(*string)(&incomplete.Organization), (*string)(&incomplete.Project), (*string)(&incomplete.Region),
			(*string)(&incomplete.Network), (*string)(&incomplete.Instance),
		}[i] = ""
		if _, err := client.Servers(t.Context(), principal.Service(alice), incomplete); err == nil {
			t.Errorf("servers were listed with %+v", incomplete)
		}
		if i == 4 {
			continue
		}
		if _, err := client.NetworkServers(t.Context(), principal.Service(alice), incomplete.NetworkSelector); err == nil {
			t.Errorf("servers were listed with %+v", incomplete.NetworkSelector)
		}
	}
	if _, err := client.Images(t.Context(), principal.Service(alice), "", north); err == nil {
		t.Error("images were listed without an organization")
	}
}

func TestWrongPowerState(t *testing.T) {
	const body = `{"error":"invalid_request","error_description":"no","trace_id":"0"}`
	for name, method := range map[string]call{
		"start": power((*region.Client).StartServer),
		"console": reading(func(ctx context.Context, c *region.Client, credential principal.Credential) (*region.ConsoleSession, error) {
			return c.CreateConsoleSession(ctx, credential, web)
		}),
		"update": reading(func(ctx context.Context, c *region.Client, credential principal.Credential) (*region.Server, error) {
			return c.UpdateServer(ctx, credential, web, region.ServerUpdate{})
		}),
	} {
		client, _ := serve(t, 400, body)
		err := method(t.Context(), client, principal.Service(alice))
		if !unikorn.IsBadRequest(err) || unikorn.OutcomeUnknown(err) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestNotVisible(t *testing.T) {
	for status, code := range map[int]string{403: "forbidden", 404: "not_found"} {
		client, _ := serve(t, status, fmt.Sprintf(`{"error":%q,"error_description":"network of beta"}`, code))
		_, err := client.Network(t.Context(), principal.Impersonate(alice), network)
		if !unikorn.IsNotVisible(err) {
			t.Errorf("%d: got %v", status, err)
		}
	}
}

func TestUnknownPowerStateAndFieldsAreRead(t *testing.T) {
	client, _ := serve(t, 200, `{"metadata":{"id":"a","provisioningStatus":"unheard-of"},"spec":{"volumes":[{}]},"status":{"powerState":"Hibernated"}}`)
	got, err := client.Server(t.Context(), principal.Service(alice), web)
	if err != nil {
		t.Fatal(err)
	}
	if got.Status.PowerState != "Hibernated" || got.Status.PowerState.Known() || !region.PowerRunning.Known() {
		t.Errorf("got %q", got.Status.PowerState)
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	key, session := region.SSHKey{PrivateKey: "hunter2"}, region.ConsoleSession{URL: "hunter2"}
	for _, text := range []string{
		fmt.Sprintf("%v %+v %#v %s %q %x", key, key, key, key, key, key),
		fmt.Sprintf("%v %+v %#v %s %q", &key, &key, &key, &key, &key),
		fmt.Sprintf("%v %+v %#v %s %q", session, session, &session, &session, session),
		fmt.Sprint(struct{ Key region.SSHKey }{key}),
	} {
		if strings.Contains(text, "hunter2") || strings.Contains(text, "68756e74657232") {
			t.Error(text)
		}
	}
}
