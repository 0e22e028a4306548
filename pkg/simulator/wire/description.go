// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// Description is the OpenAPI description of a service.
type Description struct {
	document *openapi3.T
}

// LoadDescription parses a description, which may refer to the one that the
// services share.
func LoadDescription(raw []byte) (*Description, error) {
	loader := openapi3.NewLoader()
	loader.IsExternalRefsAllowed = true
	loader.ReadFromURIFunc = func(_ *openapi3.Loader, location *url.URL) ([]byte, error) {
		if path.Base(path.Dir(location.Path)) == "unikorn" {
			return unikorn.Description, nil
		}
		return nil, fmt.Errorf("the description refers to %s", location)
	}
	document, err := loader.LoadFromDataWithPath(raw, &url.URL{Path: "service/openapi.yaml"})
	if err != nil {
		return nil, fmt.Errorf("load description: %w", err)
	}
	return &Description{document: document}, nil
}

// Route returns the described operation behind a pattern of http.ServeMux.
func (d *Description) Route(pattern string) (*routers.Route, error) {
	method, template, _ := strings.Cut(pattern, " ")
	item := d.document.Paths.Value(template)
	if item == nil || item.GetOperation(method) == nil {
		return nil, fmt.Errorf("%s is not described", pattern)
	}
	return &routers.Route{
		Spec: d.document, Path: template, PathItem: item, Method: method, Operation: item.GetOperation(method),
	}, nil
}

// check holds a request against the described operation.
func check(r *http.Request, route *routers.Route) error {
	parameters := map[string]string{}
	for _, segment := range strings.Split(route.Path, "/") {
		if name, found := wildcard(segment); found {
			parameters[name] = r.PathValue(name)
		}
	}
	err := openapi3filter.ValidateRequest(r.Context(), &openapi3filter.RequestValidationInput{
		Request: r, PathParams: parameters, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc},
	})
	var status *StatusError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &status):
		return status
	}
	return Error(http.StatusBadRequest, "the request is not what is described: %s", cause(err))
}

// cause names what is wrong without repeating the value, which may be a
// secret.
func cause(err error) string {
	var request *openapi3filter.RequestError
	if !errors.As(err, &request) {
		return "malformed"
	}
	var schema *openapi3.SchemaError
	switch {
	case errors.As(err, &schema):
		return fmt.Sprintf("%s at /%s", schema.SchemaField, strings.Join(schema.JSONPointer(), "/"))
	case request.Parameter != nil:
		return "parameter " + request.Parameter.Name
	case request.Reason != "":
		return request.Reason
	}
	return "body"
}

func wildcard(segment string) (string, bool) {
	name, opened := strings.CutPrefix(segment, "{")
	name, closed := strings.CutSuffix(name, "}")
	return name, opened && closed
}
