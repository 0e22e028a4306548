// SPDX-License-Identifier: Apache-2.0

package region

import _ "embed"

// Description is the OpenAPI description of the region service, from which the
// generated code of this package is made.
//
//go:embed openapi.yaml
var Description []byte
