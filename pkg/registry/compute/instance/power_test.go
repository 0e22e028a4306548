// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/computetest"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
)

func act(t *testing.T, b *booth, action compute.PowerAction) (*compute.InstancePower, error) {
	t.Helper()
	return post(t, b, "power", &compute.InstancePower{Spec: compute.InstancePowerSpec{Action: action}})
}

var powerCalls = map[compute.PowerAction]string{
	compute.PowerActionStart:      "StartServer",
	compute.PowerActionStop:       "StopServer",
	compute.PowerActionReboot:     "SoftRebootServer",
	compute.PowerActionHardReboot: "HardRebootServer",
}

func TestPowerActions(t *testing.T) {
	for action, next := range map[compute.PowerAction]compute.PowerState{
		compute.PowerActionStart:      compute.PowerStatePending,
		compute.PowerActionStop:       compute.PowerStateStopping,
		compute.PowerActionReboot:     compute.PowerStateRunning,
		compute.PowerActionHardReboot: compute.PowerStateRunning,
	} {
		t.Run(string(action), func(t *testing.T) {
			b := newBooth(t)
			got, err := act(t, b, action)
			if err != nil {
				t.Fatal(err)
			}
			want := &compute.InstancePower{
				ObjectMeta: metav1.ObjectMeta{
					Name: computetest.Name, Namespace: computetest.Namespace,
					UID: "5b8b4f4e-7a32-5a4f-9c5e-000000000001", ResourceVersion: "7", CreationTimestamp: computetest.Created,
				},
				Spec:   compute.InstancePowerSpec{Action: action},
				Status: compute.InstancePowerStatus{PowerState: next},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			expectCalls(t, b, powerCalls[action])
			if len(b.desk.warnings) > 0 {
				t.Errorf("warnings %v", b.desk.warnings)
			}
		})
	}
}

// Region refuses; the state that is read afterwards decides.
func TestRefusedPowerActions(t *testing.T) {
	tests := []struct {
		action compute.PowerAction
		status int
		// shown are the states of the look-up and of the reads after the refusal.
		shown   [][]region.Server
		reached compute.PowerState
		refused string
	}{
		{action: compute.PowerActionStart, status: 400, shown: shows("Running"), reached: "Running"},
		{action: compute.PowerActionStart, status: 400, shown: shows("Pending"), reached: "Pending"},
		{action: compute.PowerActionStart, status: 400, shown: shows("Rebuilding"), reached: "Rebuilding"},
		{action: compute.PowerActionStart, status: 400, shown: shows("Error"), refused: "Start is not possible while the machine is Error"},
		{action: compute.PowerActionStart, status: 400, shown: shows("Stopping"), refused: "Start is not possible while the machine is Stopping"},
		{action: compute.PowerActionStart, status: 400, shown: shows("Stopped", "Stopped", "Pending"), reached: "Pending"},
		{action: compute.PowerActionStart, status: 404, shown: shows("Building"), reached: "Building"},
		{action: compute.PowerActionStart, status: 404, shown: shows(""), refused: "Start is not possible: the machine is in no known power state yet"},
		{action: compute.PowerActionStop, status: 400, shown: shows("Stopped"), reached: "Stopped"},
		{action: compute.PowerActionStop, status: 400, shown: shows("Stopping"), reached: "Stopping"},
		{action: compute.PowerActionStop, status: 400, shown: shows("Running", "Running", "Stopping"), reached: "Stopping"},
		{action: compute.PowerActionStop, status: 400, shown: shows("Running"), refused: "Stop is not possible yet, although the machine is Running"},
		{action: compute.PowerActionStop, status: 404, shown: shows("Building"), refused: "Stop is not possible while the machine is Building"},
		{action: compute.PowerActionReboot, status: 400, shown: shows("Stopped"), refused: "Reboot is not possible while the machine is Stopped"},
		{action: compute.PowerActionReboot, status: 400, shown: shows("Running", "Stopped"), refused: "Reboot is not possible while the machine is Stopped"},
		{action: compute.PowerActionHardReboot, status: 400, shown: shows("Exploding"), refused: "HardReboot is not possible: the machine is in no known power state yet"},
	}
	for _, test := range tests {
		b := newBooth(t)
		b.hall.shown = test.shown
		b.hall.failures[powerCalls[test.action]] = said(test.status)
		got, err := act(t, b, test.action)
		expectCalls(t, b, powerCalls[test.action])
		if test.refused != "" {
			expectReason(t, err, metav1.StatusReasonConflict)
			if !strings.Contains(err.Error(), test.refused) {
				t.Errorf("%q, want %q", err, test.refused)
			}
			if cause, ok := apierrors.StatusCause(err, v1beta1.CausePowerState); !ok || !strings.Contains(test.refused, cause.Message) {
				t.Errorf("cause %v", cause)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.action, err)
			continue
		}
		if got.Status.PowerState != test.reached {
			t.Errorf("%s: state %q, want %q", test.action, got.Status.PowerState, test.reached)
		}
		want := []string{string(test.action) + " changed nothing: the machine is " + string(test.reached)}
		if diff := cmp.Diff(want, b.desk.warnings); diff != "" {
			t.Errorf("warnings (-want +got):\n%s", diff)
		}
	}
}

func TestPowerActionOfAMachineThatGoes(t *testing.T) {
	b := newBooth(t)
	b.hall.shown = append(b.hall.shown, []region.Server{})
	b.hall.failures["StopServer"] = said(http.StatusNotFound)
	_, err := act(t, b, compute.PowerActionStop)
	if !apierrors.HasStatusCause(err, v1beta1.CauseConsistencyError) {
		t.Errorf("error %v, want a ConsistencyError", err)
	}
}

func TestOtherErrorsOfPowerActionsPassThrough(t *testing.T) {
	for action, call := range powerCalls {
		for _, want := range []error{errDown, said(http.StatusInternalServerError)} {
			b := newBooth(t)
			b.hall.failures[call] = want
			if _, err := act(t, b, action); !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", action, err, want)
			}
			expectCalls(t, b, call)
		}
	}
}

func TestPowerActionsThatDoNotExist(t *testing.T) {
	for action, want := range map[compute.PowerAction]string{
		"":        "FieldValueRequired spec.action",
		"Suspend": "FieldValueNotSupported spec.action",
		"stop":    "FieldValueNotSupported spec.action",
	} {
		b := newBooth(t)
		_, err := act(t, b, action)
		expectReason(t, err, metav1.StatusReasonInvalid)
		if diff := cmp.Diff([]string{want}, statusCauses(t, err)); diff != "" {
			t.Errorf("%q: causes (-want +got):\n%s", action, diff)
		}
		expectCalls(t, b)
	}
}

func TestGetPower(t *testing.T) {
	for shown, want := range map[region.PowerState]compute.PowerState{
		"Running": "Running", "Stopped": "Stopped", "": "", "Exploding": "",
	} {
		b := newBooth(t)
		b.hall.shown = shows(shown)
		got, err := b.Power.Get(b.request(t, "power"), computetest.Name, &metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		power := got.(*compute.InstancePower)
		if power.Status.PowerState != want || power.Name != computetest.Name || power.Spec.Action != "" {
			t.Errorf("%q: got %+v, want state %q", shown, power, want)
		}
		expectCalls(t, b)
	}
}

// expectNote compares the one note there is, none if state is empty.
func expectNote(t *testing.T, b *booth, state compute.PowerState, since time.Time) {
	t.Helper()
	if state == "" {
		if len(b.board.notes) > 0 {
			t.Errorf("notes %v, want none", b.board.notes)
		}
		return
	}
	if len(b.board.notes) != 1 {
		t.Fatalf("%d notes, want 1", len(b.board.notes))
	}
	left := b.board.notes[0]
	request, ok := v1alpha1.PowerRequestOf(left.annotations)
	if !ok || len(left.annotations) != 1 || request.State != string(state) || request.Time.Before(since) || request.Time.After(time.Now()) {
		t.Errorf("noted %v, want %s since %v", left.annotations, state, since)
	}
	if left.namespace != computetest.Namespace || left.name != string(computetest.Existing().Status.InstanceID) {
		t.Errorf("noted on %s/%s", left.namespace, left.name)
	}
	if left.ended || !left.timed {
		t.Errorf("the note ends with the request: %t, and has a deadline: %t", left.ended, left.timed)
	}
}

// What an action changes is noted for the controller; what fails, or changes no
// state, is not.
func TestPowerActionsAreNoted(t *testing.T) {
	for name, test := range map[string]struct {
		action compute.PowerAction
		status int
		shown  [][]region.Server
		noted  compute.PowerState
	}{
		"stop":            {action: compute.PowerActionStop, noted: "Stopped"},
		"start":           {action: compute.PowerActionStart, shown: shows("Stopped"), noted: "Running"},
		"reboot":          {action: compute.PowerActionReboot},
		"hard reboot":     {action: compute.PowerActionHardReboot},
		"started already": {action: compute.PowerActionStart, status: 400, shown: shows("Pending"), noted: "Running"},
		"stopped already": {action: compute.PowerActionStop, status: 400, shown: shows("Stopped"), noted: "Stopped"},
		"not possible":    {action: compute.PowerActionStop, status: 400, shown: shows("Error")},
		"failed":          {action: compute.PowerActionStop, status: 500},
	} {
		t.Run(name, func(t *testing.T) {
			b, since := newBooth(t), time.Now().Truncate(0)
			if test.shown != nil {
				b.hall.shown = test.shown
			}
			if test.status != 0 {
				b.hall.failures[powerCalls[test.action]] = said(test.status)
			}
			_, err := act(t, b, test.action)
			if done := test.status == 0 || test.noted != ""; done != (err == nil) {
				t.Fatalf("error %v", err)
			}
			expectNote(t, b, test.noted, since)
		})
	}
}

func TestPowerActionOnADryRunIsNotNoted(t *testing.T) {
	b := newBooth(t)
	request := &compute.InstancePower{Spec: compute.InstancePowerSpec{Action: compute.PowerActionStop}}
	if _, err := post(t, b, "power", request, metav1.DryRunAll); err != nil {
		t.Fatal(err)
	}
	expectNote(t, b, "", time.Time{})
}

// The machine is switched, whatever becomes of the note.
func TestPowerActionWhoseNoteFails(t *testing.T) {
	b := newBooth(t)
	b.board.err = errDown
	got, err := act(t, b, compute.PowerActionStop)
	if err != nil {
		t.Fatal(err)
	}
	if got.Status.PowerState != compute.PowerStateStopping {
		t.Errorf("state %s", got.Status.PowerState)
	}
	if len(b.desk.warnings) != 1 || !strings.HasPrefix(b.desk.warnings[0], "Stop is done, but the instance may not show it") {
		t.Errorf("warnings %q", b.desk.warnings)
	}
}

// A client that goes while region is at work leaves the note undisturbed.
func TestPowerActionWhoseClientGoes(t *testing.T) {
	b, since := newBooth(t), time.Now().Truncate(0)
	ctx, leave := context.WithCancel(b.request(t, "power"))
	b.hall.called = leave
	request := &compute.InstancePower{Spec: compute.InstancePowerSpec{Action: compute.PowerActionStop}}
	if _, err := b.Power.Create(ctx, computetest.Name, request, b.admit, &metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	expectNote(t, b, "Stopped", since)
}
