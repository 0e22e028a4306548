// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
)

var _ fieldpath.Filter = serverFields{}

// serverFields takes out of a set the fields whose value the server decides
// whatever a client sends, so that server-side apply does not make clients
// owners of them. Reserved keys are a matter of prefixes, which no fixed set
// of fields can say.
type serverFields struct{}

// Filter implements fieldpath.Filter.
func (serverFields) Filter(set *fieldpath.Set) *fieldpath.Set {
	owned := fieldpath.NewSet(fieldpath.MakePathOrDie("status"))
	set.Iterate(func(path fieldpath.Path) {
		if isServerField(path) {
			owned.Insert(path.Copy())
		}
	})
	return set.RecursiveDifference(owned)
}

func isServerField(path fieldpath.Path) bool {
	if len(path) < 3 || path[0].FieldName == nil || *path[0].FieldName != "metadata" || path[1].FieldName == nil {
		return false
	}
	switch *path[1].FieldName {
	case "labels", "annotations":
		return path[2].FieldName != nil && reserved(*path[2].FieldName)
	case "finalizers":
		return path[2].Value != nil && (*path[2].Value).IsString() && (*path[2].Value).AsString() == v1alpha1.Finalizer
	default:
		return false
	}
}
