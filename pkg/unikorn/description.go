// SPDX-License-Identifier: Apache-2.0

package unikorn

import _ "embed"

// Description is the part of the description that the services share, in OpenAPI 3, from which the
// generated code of this package is made.
//
//go:embed openapi.yaml
var Description []byte
