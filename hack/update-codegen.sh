#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Generates everything that is generated: helpers of the API types, OpenAPI
# definitions, clients, the CRD manifest, the page about flags, and the clients
# of region and identity. Run it after a change to pkg/apis, to flags, or to an
# openapi.yaml.

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
export GOTOOLCHAIN=local CGO_ENABLED=0 GOFLAGS=-buildvcs=false GOBIN=$root/bin/tools

module=github.com/unikorn-cloud/instance-apiserver
boilerplate=$root/hack/boilerplate.go.txt
tool() { go tool -modfile="$root/hack/tools/go.mod" "$@"; }

go mod download -modfile=hack/tools/go.mod k8s.io/code-generator
codegen=$(go list -modfile=hack/tools/go.mod -m -f '{{.Dir}}' k8s.io/code-generator)
# shellcheck source=/dev/null
source "$codegen/kube_codegen.sh"

# Packages the generators read and write nothing for. validation-gen must not
# be given meta/v1: it then wants a validation of metav1.Condition that is not
# published.
library_packages=("${KUBE_CODEGEN_READONLY_PKGS[@]}")
KUBE_CODEGEN_READONLY_PKGS=("$module/pkg/ids")

kube::codegen::gen_helpers \
  --boilerplate "$boilerplate" \
  "$root/pkg/apis"

KUBE_CODEGEN_READONLY_PKGS+=("${library_packages[@]}")

kube::codegen::gen_openapi \
  --output-dir "$root/pkg/generated/openapi" \
  --output-pkg "$module/pkg/generated/openapi" \
  --report-filename "$root/hack/api-violations.list" \
  ${UPDATE_API_KNOWN_VIOLATIONS:+--update-report} \
  --output-model-name-file zz_generated.model_name.go \
  --boilerplate "$boilerplate" \
  "$root/pkg/apis"

kube::codegen::gen_client \
  --with-watch \
  --with-applyconfig \
  --applyconfig-openapi-schema <(go run ./hack/models-schema) \
  --output-dir "$root/pkg/generated" \
  --output-pkg "$module/pkg/generated" \
  --boilerplate "$boilerplate" \
  "$root/pkg/apis"

echo "Generating the CRD manifest"
tool controller-gen crd:crdVersions=v1 \
  paths=./pkg/apis/compute/v1alpha1/... \
  output:crd:dir=artifacts/base/crd

echo "Generating docs/reference/flags.md"
flags=$(go run ./hack/flags)
printf '%s\n' "$flags" >docs/reference/flags.md

[[ ! -x hack/update-openapi.sh ]] || hack/update-openapi.sh
