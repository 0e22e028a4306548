// SPDX-License-Identifier: Apache-2.0

// Package console is what a simulated machine writes to its serial console:
// a boot, a line a second while it runs, and a farewell when it stops. What is
// written depends on nothing but the machine's name and on when things
// happened.
package console

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Kept is how many lines the provider keeps.
const Kept = 2000

type kind int

const (
	powerOn kind = iota
	powerOff
	reboot
)

type event struct {
	at   time.Time
	kind kind
}

// Log is the console of one machine. The zero Log is that of a machine that
// was never switched on. Events may lie in the future.
type Log struct {
	events []event
}

// PowerOn has the machine boot at a moment.
func (l *Log) PowerOn(at time.Time) {
	l.events = append(l.events, event{at, powerOn})
}

// PowerOff has the machine go down at a moment.
func (l *Log) PowerOff(at time.Time) {
	l.events = append(l.events, event{at, powerOff})
}

// Reboot has the machine go down and boot at a moment.
func (l *Log) Reboot(at time.Time) {
	l.events = append(l.events, event{at, reboot})
}

// Cancel drops the events after a moment.
func (l *Log) Cancel(now time.Time) {
	l.events = slices.DeleteFunc(l.events, func(e event) bool { return e.at.After(now) })
}

// Lines returns the last lines written until a moment, at most Kept.
func (l *Log) Lines(name string, now time.Time) []string {
	var lines []string
	boots := 0
	for i, e := range l.events {
		if e.at.After(now) {
			break
		}
		if e.kind != powerOn {
			lines = append(lines, farewell(e.kind))
		}
		if e.kind == powerOff {
			continue
		}
		boots++
		until := now
		if i+1 < len(l.events) && l.events[i+1].at.Before(now) {
			until = l.events[i+1].at
		}
		lines = append(lines, boot(name, boots)...)
		lines = append(lines, heartbeats(until.Sub(e.at))...)
	}
	return lines[max(0, len(lines)-Kept):]
}

// Tail joins the last lines, or all of them for a negative number.
func Tail(lines []string, number int) string {
	if number >= 0 && number < len(lines) {
		lines = lines[len(lines)-number:]
	}
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

func farewell(k kind) string {
	if k == reboot {
		return "reboot: Restarting system"
	}
	return "reboot: Power down"
}

func boot(name string, number int) []string {
	return []string{
		"[    0.000000] Linux version 6.8.0-simulated",
		"[    0.104212] Command line: root=LABEL=cloudimg-rootfs ro console=ttyS0",
		fmt.Sprintf("[    0.310977] systemd[1]: Hostname set to <%s>.", name),
		fmt.Sprintf("[    0.522014] cloud-init[412]: boot %d, datasource Simulated", number),
		"[    0.894550] cloud-init[412]: finished",
		fmt.Sprintf("%s login: ", name),
	}
}

func heartbeats(uptime time.Duration) []string {
	seconds := int(uptime / time.Second)
	var lines []string
	for second := max(1, seconds-Kept); second <= seconds; second++ {
		lines = append(lines, fmt.Sprintf("[%5d.000000] heartbeat: up %d s", second, second))
	}
	return lines
}
