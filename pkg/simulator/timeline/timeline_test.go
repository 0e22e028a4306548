// SPDX-License-Identifier: Apache-2.0

package timeline_test

import (
	"slices"
	"testing"
	"time"

	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/timeline"
)

var start = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

func at(seconds int) time.Time {
	return start.Add(time.Duration(seconds) * time.Second)
}

func expect(t *testing.T, line *timeline.Timeline[string], seconds int, want string) {
	t.Helper()
	got, present := line.At(at(seconds))
	if present != (want != "") || got != want {
		t.Errorf("after %d s: got %q (present: %t), want %q", seconds, got, present, want)
	}
}

func TestTimelineFollowsItsPlan(t *testing.T) {
	var line timeline.Timeline[string]
	line.Set(at(0), "pending")
	line.Plan(at(2), "building")
	line.Plan(at(4), "running")
	line.PlanRemoval(at(6))

	for seconds, want := range map[int]string{-1: "", 0: "pending", 1: "pending", 2: "building", 5: "running", 6: "", 60: ""} {
		expect(t, &line, seconds, want)
	}
}

func TestSetDropsThePlanAndKeepsThePast(t *testing.T) {
	var line timeline.Timeline[string]
	line.Set(at(0), "pending")
	line.Plan(at(4), "running")
	line.Set(at(2), "stopping")

	for seconds, want := range map[int]string{1: "pending", 2: "stopping", 10: "stopping"} {
		expect(t, &line, seconds, want)
	}
}

func TestEditKeepsThePlan(t *testing.T) {
	var line timeline.Timeline[string]
	line.Set(at(0), "pending")
	line.Plan(at(4), "running")
	line.PlanRemoval(at(6))
	line.Edit(at(2), func(value string) string { return value + "+tag" })

	for seconds, want := range map[int]string{1: "pending", 2: "pending+tag", 4: "running+tag", 6: ""} {
		expect(t, &line, seconds, want)
	}
	line.Edit(at(7), func(string) string { return "back" })
	expect(t, &line, 8, "")
}

func TestLastAndRemove(t *testing.T) {
	var line timeline.Timeline[string]
	line.Set(at(0), "pending")
	line.Plan(at(4), "running")
	if value, when := line.Last(); value != "running" || !when.Equal(at(4)) {
		t.Errorf("last is %q at %s", value, when)
	}
	line.Remove(at(1))
	for seconds, want := range map[int]string{0: "pending", 1: "", 5: ""} {
		expect(t, &line, seconds, want)
	}
}

func TestTableSelectsInOrderAndForgets(t *testing.T) {
	table := timeline.NewTable[string, string]()
	table.Set("b", at(0), "second")
	table.Set("a", at(0), "first")
	table.Set("c", at(5), "late")
	everything := func(string) bool { return true }

	if got := table.Select(at(1), everything); !slices.Equal(got, []string{"first", "second"}) {
		t.Errorf("got %v", got)
	}
	table.Row("a").Remove(at(6))
	table.Forget(at(7))
	if got := table.Select(at(5), everything); !slices.Equal(got, []string{"first", "second", "late"}) {
		t.Errorf("forgotten too early: %v", got)
	}
	table.Forget(at(6).Add(timeline.Retention))
	if _, present := table.Get("a", at(5)); present {
		t.Error("a row without a future was kept")
	}
	if _, present := table.Get("c", at(100)); !present {
		t.Error("a row with a present was forgotten")
	}
}
