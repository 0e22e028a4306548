// SPDX-License-Identifier: Apache-2.0

package console_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/console"
)

var start = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

func at(seconds int) time.Time {
	return start.Add(time.Duration(seconds) * time.Second)
}

func TestLogGrowsWithTimeAndPower(t *testing.T) {
	var log console.Log
	log.PowerOn(at(10))
	if got := log.Lines("web-1", at(9)); len(got) != 0 {
		t.Errorf("before the boot: %q", got)
	}
	atBoot := log.Lines("web-1", at(10))
	if last := atBoot[len(atBoot)-1]; last != "web-1 login: " {
		t.Errorf("last line at boot is %q", last)
	}
	later := log.Lines("web-1", at(13))
	if !slices.Equal(later[:len(atBoot)], atBoot) || len(later) != len(atBoot)+3 {
		t.Errorf("lines of before changed, or not one a second: %q", later)
	}

	log.PowerOff(at(14))
	stopped := log.Lines("web-1", at(20))
	if got := stopped[len(stopped)-1]; got != "reboot: Power down" || len(stopped) != len(atBoot)+5 {
		t.Errorf("stopped: %q", stopped)
	}
	log.PowerOn(at(30))
	log.Reboot(at(32))
	rebooted := strings.Join(log.Lines("web-1", at(32)), "\n")
	for _, want := range []string{"boot 1,", "boot 2,", "reboot: Restarting system", "boot 3,"} {
		if !strings.Contains(rebooted, want) {
			t.Errorf("no %q in %s", want, rebooted)
		}
	}
}

func TestCancelDropsThePlan(t *testing.T) {
	var log console.Log
	log.PowerOn(at(10))
	log.Cancel(at(5))
	if got := log.Lines("web-1", at(20)); len(got) != 0 {
		t.Errorf("got %q", got)
	}
}

func TestTheProviderKeepsOnlySoMuch(t *testing.T) {
	var log console.Log
	log.PowerOn(at(0))
	lines := log.Lines("web-1", at(100000))
	if len(lines) != console.Kept || !strings.Contains(lines[len(lines)-1], "up 100000 s") {
		t.Errorf("%d lines, last %q", len(lines), lines[len(lines)-1])
	}
}

func TestTail(t *testing.T) {
	lines := []string{"a", "b", "c"}
	for number, want := range map[int]string{-1: "a\nb\nc\n", 0: "", 2: "b\nc\n", 9: "a\nb\nc\n"} {
		if got := console.Tail(lines, number); got != want {
			t.Errorf("tail %d: got %q, want %q", number, got, want)
		}
	}
}
