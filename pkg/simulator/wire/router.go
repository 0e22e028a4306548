// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/getkin/kin-openapi/routers"
)

// Router is a ServeMux that checks requests before the generated code sees
// them, in the order the services do: ids of the path, who calls, then the
// request against the description.
type Router struct {
	mux         *http.ServeMux
	description *Description
	routeErrors []error
}

// NewRouter returns a router without routes.
func NewRouter(description *Description) *Router {
	return &Router{mux: http.NewServeMux(), description: description}
}

// HandleFunc registers an operation.
func (m *Router) HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	route, err := m.description.Route(pattern)
	if err != nil {
		m.routeErrors = append(m.routeErrors, err)
		return
	}
	m.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		admitted, err := admit(r, route)
		if err != nil {
			WriteError(w, r, err)
			return
		}
		handler(w, admitted)
	})
}

// Err returns what went wrong while operations were registered.
func (m *Router) Err() error {
	return errors.Join(m.routeErrors...)
}

// WriteBindError answers a request of which the generated code could not read
// a parameter.
func WriteBindError(w http.ResponseWriter, r *http.Request, err error) {
	WriteError(w, r, Error(http.StatusBadRequest, "%s", err))
}

// ServeHTTP answers a request. A known path with another method is as unknown
// as an unknown path.
func (m *Router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, pattern := m.mux.Handler(r); pattern == "" {
		WriteError(w, r, Error(http.StatusNotFound, ""))
		return
	}
	m.mux.ServeHTTP(w, r)
}

type callerKey struct{}

// CallerOf returns who sent a request that came through a Router.
func CallerOf(r *http.Request) Caller {
	caller, known := r.Context().Value(callerKey{}).(Caller)
	if !known {
		panic("the request did not come through the router")
	}
	return caller
}

func admit(r *http.Request, route *routers.Route) (*http.Request, error) {
	for _, segment := range strings.Split(route.Path, "/") {
		name, found := wildcard(segment)
		if !found {
			continue
		}
		id, err := CanonicalID(name, r.PathValue(name))
		if err != nil {
			return nil, err
		}
		r.SetPathValue(name, id)
	}
	caller, err := authenticate(r)
	if err != nil {
		return nil, err
	}
	if err := check(r, route); err != nil {
		return nil, err
	}
	return r.WithContext(context.WithValue(r.Context(), callerKey{}, caller)), nil
}

// Answer turns a handler that returns its answer into an http.Handler's body.
func Answer(w http.ResponseWriter, r *http.Request, status int, handle func(Caller) (any, error)) {
	body, err := handle(CallerOf(r))
	switch {
	case err != nil:
		WriteError(w, r, err)
	case body == nil:
		w.WriteHeader(status)
	default:
		WriteJSON(w, status, body)
	}
}
