// SPDX-License-Identifier: Apache-2.0

package computetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ExpectCauses compares field errors, each as "Type path", with those wanted,
// in order.
func ExpectCauses(t testing.TB, errs field.ErrorList, want ...string) {
	t.Helper()
	var causes []string
	for _, err := range errs {
		causes = append(causes, string(err.Type)+" "+err.Field)
	}
	if diff := cmp.Diff(want, causes); diff != "" {
		t.Errorf("causes (-want +got):\n%s\n%v", diff, errs.ToAggregate())
	}
}
