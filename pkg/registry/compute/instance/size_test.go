// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/computetest"
)

// bloat labels an instance beyond what can be stored.
func bloat(instance *compute.Instance) {
	if instance.Labels == nil {
		instance.Labels = map[string]string{}
	}
	for i := range maxSize / 64 {
		instance.Labels[fmt.Sprintf("l%d", i)] = strings.Repeat("v", 60)
	}
}

func TestOversizeIsRefusedBeforeTheCharge(t *testing.T) {
	for _, dryRun := range [][]string{nil, {metav1.DryRunAll}} {
		d := newDesk(t)
		if _, err := d.create(t, computetest.Instance(bloat), dryRun...); !apierrors.IsRequestEntityTooLargeError(err) {
			t.Errorf("create, dry run %v: %v", dryRun, err)
		}
		expectAsked(t, d.platform)
		expectCharges(t, d)

		d = newDesk(t, computetest.Existing())
		if _, err := d.update(t, bloat, dryRun...); !apierrors.IsRequestEntityTooLargeError(err) {
			t.Errorf("update, dry run %v: %v", dryRun, err)
		}
		expectAsked(t, d.platform)
	}
}

func TestOversizeMayShrink(t *testing.T) {
	d := newDesk(t, computetest.Existing(bloat))
	if _, err := d.update(t, func(instance *compute.Instance) { delete(instance.Labels, "l0") }); err != nil {
		t.Error(err)
	}
}

func TestVersionOnCreateIsABadRequest(t *testing.T) {
	for _, dryRun := range [][]string{nil, {metav1.DryRunAll}} {
		d := newDesk(t)
		_, err := d.create(t, computetest.Instance(func(instance *compute.Instance) { instance.ResourceVersion = "5" }), dryRun...)
		if !apierrors.IsBadRequest(err) {
			t.Errorf("dry run %v: %v", dryRun, err)
		}
		expectCharges(t, d)
	}
}
