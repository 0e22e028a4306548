// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// TestConflicts: two changes of one allocation can meet, and a new one meets
// nothing.
func TestConflicts(t *testing.T) {
	client, _ := serve(t, 409, `{"error":"conflict","error_description":"x"}`)
	_, err := client.UpdateAllocation(t.Context(), credential, acme, alpha, paid, charge)
	if !apierrors.IsConflict(err) || !unikorn.IsConflict(err) {
		t.Errorf("update: %v", err)
	}
	client, _ = serve(t, 409, `{"error":"conflict","error_description":"x"}`)
	_, err = client.CreateAllocation(t.Context(), credential, acme, alpha, charge)
	if !apierrors.IsInternalError(err) {
		t.Errorf("create: %v", err)
	}
	var refusal *unikorn.Error
	if !errors.As(err, &refusal) {
		t.Fatalf("create: %v", err)
	}
	if status := refusal.Status(); strings.Contains(status.Message, "Allocation") {
		t.Errorf("%q names an operation", status.Message)
	}
}
