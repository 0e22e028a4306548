// SPDX-License-Identifier: Apache-2.0

// Package adminclient calls the admin API of the simulator, for tests and for
// those that set up an environment.
package adminclient

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/unikorn-cloud/instance-apiserver/pkg/identity"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/acl"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/fault"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/requestlog"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/settings"
)

// Client calls the admin API.
type Client struct {
	// URL of the API, without a slash at its end.
	URL string
}

// StatusError says that the simulator refused a call.
type StatusError struct {
	Method, Path string
	Status       int
	// Body says why.
	Body string
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("simulator: %s %s: %d: %s", e.Method, e.Path, e.Status, e.Body)
}

// Allocations returns the quota that is held now.
func (c Client) Allocations(ctx context.Context) ([]identity.Allocation, error) {
	return call[[]identity.Allocation](ctx, c, http.MethodGet, "/allocations", nil)
}

// Servers returns the servers that exist now.
func (c Client) Servers(ctx context.Context) ([]region.Server, error) {
	return call[[]region.Server](ctx, c, http.MethodGet, "/servers", nil)
}

// Requests returns what the simulated services were asked since they started,
// or since ForgetRequests.
func (c Client) Requests(ctx context.Context) ([]requestlog.Entry, error) {
	return call[[]requestlog.Entry](ctx, c, http.MethodGet, "/requests", nil)
}

// ForgetRequests empties what Requests returns.
func (c Client) ForgetRequests(ctx context.Context) error {
	_, err := c.send(ctx, http.MethodDelete, "/requests", nil)
	return err
}

// SetFaults puts faults in force in the place of those that were.
func (c Client) SetFaults(ctx context.Context, faults ...fault.Fault) error {
	_, err := c.send(ctx, http.MethodPut, "/faults", append([]fault.Fault{}, faults...))
	return err
}

// ClearFaults ends all faults.
func (c Client) ClearFaults(ctx context.Context) error {
	_, err := c.send(ctx, http.MethodDelete, "/faults", nil)
	return err
}

// Settings returns the settings in force.
func (c Client) Settings(ctx context.Context) (settings.Settings, error) {
	return call[settings.Settings](ctx, c, http.MethodGet, "/settings", nil)
}

// SetSettings replaces the settings.
func (c Client) SetSettings(ctx context.Context, wanted settings.Settings) error {
	_, err := c.send(ctx, http.MethodPut, "/settings", wanted)
	return err
}

// SetQuotas changes limits of an organization by kind; nil stands for the
// default of the kind.
func (c Client) SetQuotas(ctx context.Context, organization ids.OrganizationID, limits map[string]*int) error {
	_, err := c.send(ctx, http.MethodPut, "/quotas/"+string(organization), limits)
	return err
}

// SetRoles makes roles, by project, what a person is from now on. Without any
// the person is unknown.
func (c Client) SetRoles(ctx context.Context, person string, roles map[ids.ProjectID]acl.Role) error {
	if roles == nil {
		roles = map[ids.ProjectID]acl.Role{}
	}
	_, err := c.send(ctx, http.MethodPut, "/people/"+person, roles)
	return err
}

// PlantServer makes a server behind the platform's back.
func (c Client) PlantServer(ctx context.Context, server region.Server) (region.Server, error) {
	return call[region.Server](ctx, c, http.MethodPost, "/servers", server)
}

// UprootServer removes a server behind the platform's back.
func (c Client) UprootServer(ctx context.Context, server ids.ServerID) error {
	_, err := c.send(ctx, http.MethodDelete, "/servers/"+string(server), nil)
	return err
}

func call[T any](ctx context.Context, c Client, method, path string, body any) (T, error) {
	var answer T
	raw, err := c.send(ctx, method, path, body)
	if err != nil {
		return answer, err
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return answer, fmt.Errorf("simulator: %s %s: %w", method, path, err)
	}
	return answer, nil
}

// send returns the body of the answer.
func (c Client) send(ctx context.Context, method, path string, body any) ([]byte, error) {
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("simulator: %s %s: %w", method, path, err)
		}
		content = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.URL+path, content)
	if err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("simulator: %s %s: %w", method, path, err)
	}
	if response.StatusCode/100 != 2 {
		return nil, &StatusError{Method: method, Path: path, Status: response.StatusCode, Body: string(answer)}
	}
	return answer, nil
}
