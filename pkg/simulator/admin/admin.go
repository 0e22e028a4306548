// SPDX-License-Identifier: Apache-2.0

// Package admin lets tests and demonstrations look into the simulator and
// interfere with it. Nobody is authenticated: it belongs on loopback.
package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/unikorn-cloud/instance-apiserver/pkg/identity"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/fault"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/requestlog"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/settings"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/wire"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
)

// API is the admin API.
type API struct {
	World    *world.World
	Settings *settings.Store
	Faults   *fault.Set
	Requests *requestlog.Log
}

const help = `Simulated region and identity services: admin API, for tests and demonstrations.

GET    /allocations               allocations held now, as identity returns them
GET    /servers                   servers held now, as region returns them
POST   /servers                   plant a server behind the platform's back: region's read form, or
                                  {"name", "networkId", "flavorId", "imageId", "tags": [{"name", "value"}]}
DELETE /servers/{serverID}        remove a server behind the platform's back
GET    /requests                  requests received   DELETE forgets them
GET    /faults                    faults in force     DELETE clears them
PUT    /faults                    [{"service", "method", "path", "status", "headers", "body", "latencyMillis",
                                  "truncateBytes", "afterCommit", "times"}]; status 0 drops the connection
GET    /settings                  settings in force   PUT merges into them
GET    /quotas/{organizationID}   quotas              PUT changes them: {"servers": 10}, null for the default
PUT    /people/{name}             {"<projectID>": "editor" or "viewer"}, {} makes the person unknown
PUT    /projects/{projectID}      make a project: {"organizationId", "name"}
DELETE /projects/{projectID}      remove a project, and the allocations in it
GET    /healthz                   ok
`

// Handler returns the admin API.
func (a *API) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", plain(help))
	mux.HandleFunc("GET /healthz", plain("ok"))
	mux.HandleFunc("GET /allocations", answer(http.StatusOK, a.allocations))
	mux.HandleFunc("GET /servers", answer(http.StatusOK, a.servers))
	mux.HandleFunc("POST /servers", answer(http.StatusCreated, a.plantServer))
	mux.HandleFunc("DELETE /servers/{serverID}", answer(http.StatusNoContent, a.uprootServer))
	mux.HandleFunc("GET /requests", answer(http.StatusOK, a.requests))
	mux.HandleFunc("DELETE /requests", answer(http.StatusNoContent, a.forgetRequests))
	mux.HandleFunc("GET /faults", answer(http.StatusOK, a.faults))
	mux.HandleFunc("PUT /faults", answer(http.StatusOK, a.replaceFaults))
	mux.HandleFunc("DELETE /faults", answer(http.StatusNoContent, a.clearFaults))
	mux.HandleFunc("GET /settings", answer(http.StatusOK, a.settings))
	mux.HandleFunc("PUT /settings", answer(http.StatusOK, a.mergeSettings))
	mux.HandleFunc("GET /quotas/{organizationID}", answer(http.StatusOK, a.quotas))
	mux.HandleFunc("PUT /quotas/{organizationID}", answer(http.StatusOK, a.setQuotas))
	mux.HandleFunc("PUT /people/{name}", answer(http.StatusNoContent, a.setPerson))
	mux.HandleFunc("PUT /projects/{projectID}", answer(http.StatusNoContent, a.makeProject))
	mux.HandleFunc("DELETE /projects/{projectID}", answer(http.StatusNoContent, a.removeProject))
	return mux
}

func plain(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		wire.Write(w, []byte(text))
	}
}

// answer sends what a call returns; an error is the caller's mistake.
func answer(status int, call func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := call(r)
		switch {
		case errors.Is(err, world.ErrNotFound):
			wire.WriteJSON(w, http.StatusNotFound, map[string]string{"error": err.Error()})
		case errors.Is(err, world.ErrTaken), errors.Is(err, world.ErrInUse):
			wire.WriteJSON(w, http.StatusConflict, map[string]string{"error": err.Error()})
		case err != nil:
			wire.WriteJSON(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
		case body == nil:
			w.WriteHeader(status)
		default:
			wire.WriteJSON(w, status, body)
		}
	}
}

// decode reads a body, in which unknown members are mistakes.
func decode[T any](r io.Reader) (T, error) {
	var body T
	decoder := json.NewDecoder(r)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&body); err != nil {
		return body, fmt.Errorf("body: %w", err)
	}
	return body, nil
}

func (a *API) allocations(*http.Request) (any, error) {
	return append([]identity.Allocation{}, a.World.Now().Allocations()...), nil
}

func (a *API) servers(*http.Request) (any, error) {
	shown := []region.Server{}
	for _, server := range a.World.Now().Servers(func(world.Server) bool { return true }) {
		shown = append(shown, server.Read())
	}
	return shown, nil
}

func (a *API) requests(*http.Request) (any, error) {
	return a.Requests.Entries(), nil
}

func (a *API) forgetRequests(*http.Request) (any, error) {
	a.Requests.Forget()
	return nil, nil
}

func (a *API) faults(*http.Request) (any, error) {
	return a.Faults.List(), nil
}

func (a *API) replaceFaults(r *http.Request) (any, error) {
	faults, err := decode[[]fault.Fault](r.Body)
	if err != nil {
		return nil, err
	}
	if err := a.Faults.Replace(faults); err != nil {
		return nil, err
	}
	return a.Faults.List(), nil
}

func (a *API) clearFaults(*http.Request) (any, error) {
	return nil, a.Faults.Replace(nil)
}

func (a *API) settings(*http.Request) (any, error) {
	return a.Settings.Get(), nil
}

func (a *API) mergeSettings(r *http.Request) (any, error) {
	return a.Settings.Merge(r.Body)
}

func (a *API) quotas(r *http.Request) (any, error) {
	quotas, err := a.World.Quotas(ids.OrganizationID(r.PathValue("organizationID")))
	if err != nil {
		return nil, err
	}
	return identity.Quotas{Quotas: quotas}, nil
}

func (a *API) setQuotas(r *http.Request) (any, error) {
	limits, err := decode[map[string]*int](r.Body)
	if err != nil {
		return nil, err
	}
	if err := a.World.SetQuotas(ids.OrganizationID(r.PathValue("organizationID")), limits); err != nil {
		return nil, err
	}
	return a.quotas(r)
}
