// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/machine"
)

func phases(steps []machine.Step) []string {
	var shown []string
	for _, step := range steps {
		shown = append(shown, fmt.Sprintf("%s %s/%s/%s", step.After, step.State.Provisioning, step.State.Power, step.State.Health))
	}
	return shown
}

func TestPhases(t *testing.T) {
	stopped := machine.Running()
	stopped.Power = region.PowerStopped
	stop, err := machine.Running().Stop(time.Second)
	if err != nil {
		t.Fatal(err)
	}
	start, err := stopped.Start(time.Second)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		steps []machine.Step
		want  []string
	}{
		"boot": {machine.Boot(5 * time.Second), []string{
			"0s pending//unknown", "1s provisioning//unknown", "2s provisioning/Pending/unknown",
			"3s provisioned/Building/degraded", "5s provisioned/Running/healthy"}},
		"boot of a physical machine": {machine.BootMetal(5 * time.Second), []string{
			"0s pending//unknown", "1s provisioning//unknown", "2s provisioning/Pending/unknown",
			"3s provisioned/Queued/degraded", "4s provisioned/Building/degraded", "5s provisioned/Running/healthy"}},
		"stop":  {stop, []string{"0s provisioned/Stopping/healthy", "1s provisioned/Stopped/degraded"}},
		"start": {start, []string{"0s provisioned/Pending/healthy", "1s provisioned/Running/healthy"}},
		"rebuild, old style": {machine.Running().RebuildOld(5 * time.Second), []string{
			"0s provisioning/Building/unknown", "5s provisioned/Running/healthy"}},
		"rebuild, new style": {machine.Running().RebuildNew(5 * time.Second), []string{
			"0s provisioning/Running/healthy", "1s provisioned/Rebuilding/unknown", "5s provisioned/Running/healthy"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := phases(test.steps); !slices.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestWhatAMachineCanDo(t *testing.T) {
	with := func(power region.PowerState) machine.State {
		state := machine.Running()
		state.Power = power
		return state
	}
	verbs := map[string]func(machine.State) error{
		"start":    func(s machine.State) error { _, err := s.Start(0); return err },
		"stop":     func(s machine.State) error { _, err := s.Stop(0); return err },
		"reboot":   machine.State.Reboot,
		"console":  machine.State.OpenConsole,
		"log":      machine.State.ReadConsole,
		"snapshot": machine.State.Snapshot,
	}
	building := machine.Boot(0)[3].State
	tests := []struct {
		name  string
		state machine.State
		able  []string
	}{
		{"running", machine.Running(), []string{"console", "log", "reboot", "snapshot", "stop"}},
		{"stopped", with(region.PowerStopped), []string{"log", "snapshot", "start"}},
		{"stopping", with(region.PowerStopping), []string{"log"}},
		{"building", building, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for name, verb := range verbs {
				err := verb(test.state)
				if slices.Contains(test.able, name) {
					if err != nil {
						t.Errorf("%s: %v", name, err)
					}
					continue
				}
				if !errors.Is(err, machine.ErrWrongState) {
					t.Errorf("%s: got %v, want wrong state", name, err)
				}
			}
		})
	}
	for name, verb := range verbs {
		if err := verb(machine.Created()); !errors.Is(err, machine.ErrNoMachine) {
			t.Errorf("%s of a new server: got %v, want no machine", name, err)
		}
	}
}
