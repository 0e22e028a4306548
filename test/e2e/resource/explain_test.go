// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

// schema is a node of an OpenAPI document, of either version.
type schema = map[string]any

// documentAt reads an OpenAPI document through the aggregator.
func documentAt(ctx context.Context, path string) schema {
	GinkgoHelper()
	raw, err := ClientOf(environment.AlphaEditor).Discovery().RESTClient().Get().AbsPath(path).
		SetHeader("Accept", "application/json").DoRaw(ctx)
	Expect(err).NotTo(HaveOccurred())
	var document schema
	Expect(json.Unmarshal(raw, &document)).To(Succeed())
	return document
}

// at follows a JSON reference into the document.
func at(document schema, reference string) (any, error) {
	path, local := strings.CutPrefix(reference, "#/")
	if !local {
		return nil, fmt.Errorf("%s is not in this document", reference)
	}
	var node any = document
	for _, step := range strings.Split(path, "/") {
		parent, ok := node.(schema)
		if !ok || parent[step] == nil {
			return nil, fmt.Errorf("%s leads nowhere", reference)
		}
		node = parent[step]
	}
	return node, nil
}

// dangling are the references in node that lead nowhere.
func dangling(document schema, node any) []string {
	var found []string
	switch node := node.(type) {
	case schema:
		for key, value := range node {
			if reference, ok := value.(string); ok && key == "$ref" {
				if _, err := at(document, reference); err != nil {
					found = append(found, err.Error())
				}
				continue
			}
			found = append(found, dangling(document, value)...)
		}
	case []any:
		for _, value := range node {
			found = append(found, dangling(document, value)...)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// resolved follows the reference of a node, which stands alone or in allOf.
func resolved(document, node schema) schema {
	GinkgoHelper()
	if all, ok := node["allOf"].([]any); ok && len(all) == 1 {
		node = all[0].(schema)
	}
	reference, ok := node["$ref"].(string)
	if !ok {
		return node
	}
	target, err := at(document, reference)
	Expect(err).NotTo(HaveOccurred())
	return target.(schema)
}

// fieldsBelow maps the path of every field below a node to its schema.
func fieldsBelow(document, node schema, path string) map[string]schema {
	GinkgoHelper()
	node = resolved(document, node)
	fields := map[string]schema{}
	properties, _ := node["properties"].(schema)
	for name, property := range properties {
		field := property.(schema)
		fields[path+"."+name] = field
		for below, found := range fieldsBelow(document, field, path+"."+name) {
			fields[below] = found
		}
	}
	if items, ok := node["items"].(schema); ok {
		for below, found := range fieldsBelow(document, items, path+"[]") {
			fields[below] = found
		}
	}
	return fields
}

// instanceIn finds the schema of Instance by its kind.
func instanceIn(schemas any) schema {
	GinkgoHelper()
	for _, candidate := range schemas.(schema) {
		kinds, _ := candidate.(schema)["x-kubernetes-group-version-kind"].([]any)
		for _, kind := range kinds {
			if kind.(schema)["kind"] == "Instance" && kind.(schema)["group"] == "compute.unikorn-cloud.org" {
				return candidate.(schema)
			}
		}
	}
	Fail("no schema is that of kind Instance")
	return nil
}

var _ = Describe("The published schema", func() {
	schemasOf := map[string]func(ctx context.Context) (document, instance schema){
		"v3": func(ctx context.Context) (schema, schema) {
			document := documentAt(ctx, "/openapi/v3/apis/compute.unikorn-cloud.org/v1beta1")
			return document, instanceIn(document["components"].(schema)["schemas"])
		},
		"v2": func(ctx context.Context) (schema, schema) {
			document := documentAt(ctx, "/openapi/v2")
			return document, instanceIn(document["definitions"])
		},
	}

	for _, version := range []string{"v2", "v3"} {
		read := schemasOf[version]
		It("describes every field of spec and status in OpenAPI "+version, func(ctx SpecContext) {
			document, instance := read(ctx)
			Expect(instance["description"]).NotTo(BeEmpty())
			properties := instance["properties"].(schema)
			for _, part := range []string{"spec", "status"} {
				fields := fieldsBelow(document, properties[part].(schema), part)
				Expect(len(fields)).To(BeNumerically(">", 8))
				for path, field := range fields {
					Expect(field).To(HaveKeyWithValue("description", Not(BeEmpty())), path)
				}
			}
		})

		It("has no reference that leads nowhere in OpenAPI "+version, func(ctx SpecContext) {
			document, _ := read(ctx)
			Expect(dangling(document, document)).To(BeEmpty())
		})

		It("has formats, enumerations and the kinds of lists in OpenAPI "+version, func(ctx SpecContext) {
			document, instance := read(ctx)
			fields := fieldsBelow(document, instance, "")
			for path, field := range fields {
				if strings.HasPrefix(path, ".spec.") && strings.HasSuffix(path, "ID") {
					Expect(resolved(document, field)).To(HaveKeyWithValue("format", "uuid"), path)
				}
			}
			Expect(fields[".status.powerState"]["enum"]).To(ConsistOf(
				"Pending", "Queued", "Building", "Rebuilding", "Running", "Stopping", "Stopped", "Error"))
			Expect(fields[".spec.userData"]).To(HaveKeyWithValue("format", "byte"))
			Expect(fields[".spec.tags"]).To(And(
				HaveKeyWithValue("x-kubernetes-list-type", "map"),
				HaveKeyWithValue("x-kubernetes-list-map-keys", ConsistOf("name"))))
			Expect(fields[".spec.networking.securityGroupIDs"]).To(HaveKeyWithValue("x-kubernetes-list-type", "set"))
			Expect(resolved(document, fields[".spec"])["required"]).To(ConsistOf("networkID", "flavorID", "imageID"))
		})
	}

	// API servers take the defaults out of version 2 for the sake of old clients.
	It("has the defaults in OpenAPI v3", func(ctx SpecContext) {
		document, instance := schemasOf["v3"](ctx)
		fields := fieldsBelow(document, instance, "")
		for path, value := range map[string]any{".spec.paused": false, ".spec.networking.publicIP": false, ".spec.tags[].value": ""} {
			Expect(fields[path]).To(HaveKeyWithValue("default", value), path)
		}
	})

	It("is what kubectl explain shows, every field described", func(ctx SpecContext) {
		recursive := AsEditor(ctx, "explain", "instance.spec", "--recursive")
		document, instance := schemasOf["v3"](ctx)
		parents := map[string]bool{}
		for path := range fieldsBelow(document, instance["properties"].(schema)["spec"].(schema), "instance.spec") {
			path = strings.ReplaceAll(path, "[]", "")
			at := strings.LastIndex(path, ".")
			Expect(recursive).To(ContainSubstring(path[at+1:]+"\t<"), path)
			parents[path[:at]] = true
		}
		Expect(parents).To(And(HaveKey("instance.spec.networking"), HaveKey("instance.spec.tags")))
		for parent := range parents {
			explained := AsEditor(ctx, "explain", parent)
			Expect(explained).To(And(ContainSubstring("DESCRIPTION:"), ContainSubstring("FIELDS:")), parent)
			Expect(explained).NotTo(ContainSubstring("<no description>"), parent)
		}
	})
})
