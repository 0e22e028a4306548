// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/computetest"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
)

func TestWhyThereIsNoMachine(t *testing.T) {
	tests := map[string]struct {
		edit func(*compute.Instance)
		says string
	}{
		"never seen": {func(*compute.Instance) {}, "want exactly 1; the machine may not have been made yet"},
		"seen": {func(instance *compute.Instance) {
			instance.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionHealthy}}
		}, "want exactly 1"},
		"going": {deleted, "want exactly 1; the instance is being deleted"},
	}
	for name, test := range tests {
		b := newBooth(t, test.edit)
		b.hall.shown = [][]region.Server{{}}
		_, err := b.Power.Get(b.request(t, "power"), computetest.Name, &metav1.GetOptions{})
		expectReason(t, err, metav1.StatusReasonInternalError)
		if !strings.HasSuffix(err.Error(), test.says) {
			t.Errorf("%s: %q, want %q", name, err, test.says)
		}
		if cause, _ := apierrors.StatusCause(err, v1beta1.CauseConsistencyError); cause.Message != "0 servers belong to the instance, want exactly 1" {
			t.Errorf("%s: cause %q", name, cause.Message)
		}
	}
}

// deleted is an instance that waits for its machine to go.
func deleted(instance *compute.Instance) {
	now := metav1.Now()
	instance.DeletionTimestamp = &now
}

// What is about to go can be looked at and stopped.
func TestInstanceThatIsBeingDeleted(t *testing.T) {
	for _, dryRun := range [][]string{nil, {metav1.DryRunAll}} {
		for action, call := range powerCalls {
			b := newBooth(t, deleted)
			_, err := post(t, b, "power", &compute.InstancePower{Spec: compute.InstancePowerSpec{Action: action}}, dryRun...)
			if action == compute.PowerActionStop {
				if err != nil {
					t.Errorf("%s: %v", call, err)
				}
				continue
			}
			expectDeleted(t, b, string(action), err)
		}
		b := newBooth(t, deleted)
		_, err := post(t, b, "snapshot", snap(), dryRun...)
		expectDeleted(t, b, "a snapshot", err)
		if _, err := post(t, b, "console", &compute.InstanceConsole{}, dryRun...); err != nil {
			t.Errorf("console: %v", err)
		}
	}
	b := newBooth(t, deleted)
	if _, err := b.Log.Get(b.request(t, "log"), computetest.Name, &compute.InstanceLogOptions{}); err != nil {
		t.Errorf("log: %v", err)
	}
}

func expectDeleted(t *testing.T, b *booth, doing string, err error) {
	t.Helper()
	expectReason(t, err, metav1.StatusReasonConflict)
	if !strings.HasSuffix(err.Error(), doing+" is not possible: the instance is being deleted") {
		t.Errorf("%q", err)
	}
	expectCalls(t, b)
}
