// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"reflect"
	"strings"

	openapicommon "k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/generated/openapi"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
)

// uuidFormat is OpenAPI's name of the format that ids in a spec must have.
const uuidFormat = "uuid"

// OpenAPIDefinitions are the generated definitions with the format of ids, for
// which the generator has no marker: it takes formats from Go types alone. The
// ids of a status are as they were stored, and have none.
func OpenAPIDefinitions(ref openapicommon.ReferenceCallback) map[string]openapicommon.OpenAPIDefinition {
	definitions := openapi.GetOpenAPIDefinitions(ref)
	markIDs(definitions[v1beta1.InstanceSpec{}.OpenAPIModelName()].Schema, reflect.TypeFor[v1beta1.InstanceSpec]())
	markIDs(definitions[v1beta1.InstanceNetworking{}.OpenAPIModelName()].Schema, reflect.TypeFor[v1beta1.InstanceNetworking]())
	return definitions
}

func markIDs(model spec.Schema, of reflect.Type) {
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		property := model.Properties[name]
		switch declared := of.Field(i).Type; {
		case isID(declared):
			property.Format = uuidFormat
		case declared.Kind() == reflect.Slice && isID(declared.Elem()):
			property.Items.Schema.Format = uuidFormat
		}
		model.Properties[name] = property
	}
}

func isID(declared reflect.Type) bool {
	return declared.PkgPath() == reflect.TypeFor[ids.NetworkID]().PkgPath()
}
