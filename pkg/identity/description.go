// SPDX-License-Identifier: Apache-2.0

package identity

import _ "embed"

// Description is the OpenAPI description of the identity service, from which the
// generated code of this package is made.
//
//go:embed openapi.yaml
var Description []byte
