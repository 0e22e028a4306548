// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"net/http"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/util/validation"
)

// CanonicalID returns an id the way the services write it. They accept it in
// upper case and without dashes too.
func CanonicalID[T ~string](name string, id T) (T, error) {
	parsed, err := uuid.Parse(string(id))
	if err != nil {
		return "", Error(http.StatusBadRequest, "%s is not a UUID", name)
	}
	return T(parsed.String()), nil
}

// CanonicalIDs is CanonicalID for each of a list.
func CanonicalIDs[T ~string](name string, ids []T) ([]T, error) {
	canonical := make([]T, 0, len(ids))
	for _, id := range ids {
		one, err := CanonicalID(name, id)
		if err != nil {
			return nil, err
		}
		canonical = append(canonical, one)
	}
	return canonical, nil
}

// LabelValues checks query values that the services turn into a label
// selector: an empty one is a 400, one that no label can have a 500.
func LabelValues[T ~string](name string, values []T) error {
	for _, value := range values {
		if value == "" {
			return Error(http.StatusBadRequest, "%s has an empty value", name)
		}
		if len(validation.IsValidLabelValue(string(value))) > 0 {
			return Error(http.StatusInternalServerError, "")
		}
	}
	return nil
}
