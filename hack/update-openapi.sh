#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Generates the clients of region and identity, and the server side the
# simulator implements, from our descriptions of the two services.

set -o errexit
set -o nounset
set -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

# generate DESCRIPTION CONFIG...
generate() {
  local description=$1 config
  shift
  for config in "$@"; do
    echo "generating from ${description} as ${config} says"
    go tool -modfile=hack/tools/go.mod oapi-codegen -config "${config}" "${description}"
  done
}

generate pkg/unikorn/openapi.yaml pkg/unikorn/oapi-codegen.yaml
generate pkg/region/openapi.yaml pkg/region/oapi-codegen.yaml pkg/simulator/regionapi/oapi-codegen.yaml
generate pkg/identity/openapi.yaml pkg/identity/oapi-codegen.yaml pkg/simulator/identityapi/oapi-codegen.yaml
