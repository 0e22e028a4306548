// SPDX-License-Identifier: Apache-2.0

// Command models-schema prints the OpenAPI v2 definitions of the API types,
// from which the apply configurations take their merge rules.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/unikorn-cloud/instance-apiserver/pkg/generated/openapi"
)

func main() {
	if err := json.NewEncoder(os.Stdout).Encode(document()); err != nil {
		fmt.Fprintln(os.Stderr, "models-schema:", err)
		os.Exit(1)
	}
}

func document() *spec.Swagger {
	reference := func(name string) spec.Ref {
		return spec.MustCreateRef("#/definitions/" + name)
	}
	definitions := spec.Definitions{}
	for name, definition := range openapi.GetOpenAPIDefinitions(reference) {
		definitions[name] = version2(definition.Schema)
	}
	return &spec.Swagger{SwaggerProps: spec.SwaggerProps{
		Swagger:     "2.0",
		Info:        &spec.Info{InfoProps: spec.InfoProps{Title: "compute.unikorn-cloud.org", Version: "unversioned"}},
		Definitions: definitions,
	}}
}

// version2 is the schema's OpenAPI v2 form, which types that differ between
// the two versions carry in an extension.
func version2(schema spec.Schema) spec.Schema {
	if embedded, ok := schema.Extensions[common.ExtensionV2Schema].(spec.Schema); ok {
		return embedded
	}
	return schema
}
