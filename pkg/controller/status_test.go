// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

func TestHandedOver(t *testing.T) {
	detail := func(reason string) *unikorn.StatusDetail {
		return &unikorn.StatusDetail{Reason: reason, Message: "the region's words"}
	}
	for name, test := range map[string]struct {
		status unikorn.ProvisioningStatus
		detail *unikorn.StatusDetail
		want   string
	}{
		"provisioned":                 {unikorn.ProvisioningStatusProvisioned, nil, v1alpha1.ReasonProvisioned},
		"provisioned, with detail":    {unikorn.ProvisioningStatusProvisioned, detail("Provisioned"), v1alpha1.ReasonProvisioned},
		"pending":                     {unikorn.ProvisioningStatusPending, nil, v1alpha1.ReasonDependencyNotReady},
		"provisioning":                {unikorn.ProvisioningStatusProvisioning, nil, v1alpha1.ReasonDependencyNotReady},
		"provisioning, with detail":   {unikorn.ProvisioningStatusProvisioning, detail("Provisioning"), v1alpha1.ReasonProvisioning},
		"a gate is shut":              {unikorn.ProvisioningStatusProvisioning, detail("DependencyFailed"), v1alpha1.ReasonDependencyFailed},
		"detail contradicts":          {unikorn.ProvisioningStatusProvisioning, detail("Provisioned"), v1alpha1.ReasonDependencyNotReady},
		"detail of a later build":     {unikorn.ProvisioningStatusProvisioning, detail("Thawing out"), v1alpha1.ReasonDependencyNotReady},
		"unknown":                     {unikorn.ProvisioningStatusUnknown, nil, v1alpha1.ReasonDependencyNotReady},
		"a status of a later build":   {"frozen", nil, v1alpha1.ReasonDependencyNotReady},
		"error":                       {unikorn.ProvisioningStatusError, nil, v1alpha1.ReasonErrored},
		"error, with detail":          {unikorn.ProvisioningStatusError, detail("Errored"), v1alpha1.ReasonErrored},
		"error, dependency not found": {unikorn.ProvisioningStatusError, detail("DependencyNotFound"), v1alpha1.ReasonDependencyNotFound},
		"error, detail contradicts":   {unikorn.ProvisioningStatusError, detail("Provisioned"), v1alpha1.ReasonErrored},
	} {
		t.Run(name, func(t *testing.T) {
			server := &region.Server{}
			server.Metadata.ProvisioningStatus, server.Metadata.ProvisioningStatusDetail = test.status, test.detail
			got := handedOver(server)
			if got.reason != test.want {
				t.Errorf("reason is %s, want %s", got.reason, test.want)
			}
			if (got.status() == metav1.ConditionTrue) != (test.want == v1alpha1.ReasonProvisioned) {
				t.Errorf("%s has status %s", got.reason, got.status())
			}
		})
	}
}

func TestProjectionOfServer(t *testing.T) {
	for name, test := range map[string]struct {
		health       unikorn.HealthStatus
		power        region.PowerState
		wantHealthy  string
		wantActive   string
		activeStatus metav1.ConditionStatus
	}{
		"just made":           {unikorn.HealthStatusUnknown, "", "False/Unknown", "", ""},
		"building":            {unikorn.HealthStatusDegraded, region.PowerBuilding, "False/Degraded", "Building", metav1.ConditionFalse},
		"running":             {unikorn.HealthStatusHealthy, region.PowerRunning, "True/Healthy", "Running", metav1.ConditionTrue},
		"stopped":             {unikorn.HealthStatusDegraded, region.PowerStopped, "False/Degraded", "Stopped", metav1.ConditionFalse},
		"rebuilding":          {unikorn.HealthStatusUnknown, region.PowerRebuilding, "False/Unknown", "Rebuilding", metav1.ConditionFalse},
		"broken":              {unikorn.HealthStatusError, region.PowerError, "False/Degraded", "Error", metav1.ConditionFalse},
		"power of later":      {unikorn.HealthStatusHealthy, "Hibernating", "True/Healthy", "", ""},
		"health of later":     {"splendid", region.PowerQueued, "False/Unknown", "Queued", metav1.ConditionFalse},
		"power in lower case": {unikorn.HealthStatusHealthy, "running", "True/Healthy", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			// What was there before must not survive.
			status := &v1alpha1.ComputeInstanceStatus{PublicIP: "198.51.100.9", MACAddress: "aa"}
			p := projection{status: status, generation: 4, now: time.Now()}
			p.set(metav1.Condition{Type: v1alpha1.ConditionActive, Status: metav1.ConditionTrue, Reason: "Running"})

			server := &region.Server{}
			server.Metadata.HealthStatus, server.Status.PowerState = test.health, test.power
			server.Status.PrivateIP = "10.1.0.4"
			p.server(server)

			healthy := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionHealthy)
			if got := string(healthy.Status) + "/" + healthy.Reason; got != test.wantHealthy || healthy.ObservedGeneration != 4 {
				t.Errorf("Healthy is %s of generation %d, want %s of 4", got, healthy.ObservedGeneration, test.wantHealthy)
			}
			active := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionActive)
			switch {
			case test.wantActive == "":
				if active != nil {
					t.Errorf("there is Active with %s", active.Reason)
				}
			case active == nil || active.Reason != test.wantActive || active.Status != test.activeStatus:
				t.Errorf("Active is %v, want %s/%s", active, test.activeStatus, test.wantActive)
			case active.Message == "":
				t.Errorf("Active %s has no message", active.Reason)
			}
			got := []string{status.PrivateIP, status.PublicIP, status.MACAddress}
			if diff := cmp.Diff([]string{"10.1.0.4", "", ""}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestProjectionWithoutServer(t *testing.T) {
	status := &v1alpha1.ComputeInstanceStatus{}
	p := projection{status: status, generation: 1, now: time.Now()}
	server := &region.Server{}
	server.Status.PowerState, server.Status.PrivateIP = region.PowerRunning, "10.1.0.4"
	p.server(server)
	p.available(verdict{reason: v1alpha1.ReasonProvisioned})
	p.server(nil)
	if len(status.Conditions) != 1 || status.Conditions[0].Type != v1alpha1.ConditionAvailable || status.PrivateIP != "" {
		t.Errorf("left over: %v %s", status.Conditions, status.PrivateIP)
	}
	p.available(verdict{})
	if status.Conditions[0].Reason != v1alpha1.ReasonProvisioned {
		t.Errorf("a verdict with nothing to say made Available %s", status.Conditions[0].Reason)
	}
}

func TestTransitionTimes(t *testing.T) {
	status := &v1alpha1.ComputeInstanceStatus{}
	start := time.Unix(1000, 0)
	at := func(after time.Duration, reason string) time.Time {
		p := projection{status: status, generation: 1, now: start.Add(after)}
		p.available(verdict{reason: reason, message: reason})
		return status.Conditions[0].LastTransitionTime.Time
	}
	if got := at(0, v1alpha1.ReasonProvisioning); !got.Equal(start) {
		t.Errorf("first at %v", got)
	}
	if got := at(time.Minute, v1alpha1.ReasonDependencyNotReady); !got.Equal(start) {
		t.Errorf("another reason for False moved it to %v", got)
	}
	if got := at(2*time.Minute, v1alpha1.ReasonProvisioned); !got.Equal(start.Add(2 * time.Minute)) {
		t.Errorf("True at %v", got)
	}
}

func TestMoving(t *testing.T) {
	for name, test := range map[string]struct {
		available, active string
		want              bool
	}{
		"new":                   {"", "", true},
		"being made":            {v1alpha1.ReasonProvisioning, "", true},
		"waiting":               {v1alpha1.ReasonDependencyNotReady, "Pending", true},
		"no power state yet":    {v1alpha1.ReasonProvisioned, "", true},
		"building":              {v1alpha1.ReasonProvisioned, "Building", true},
		"stopping":              {v1alpha1.ReasonProvisioned, "Stopping", true},
		"running":               {v1alpha1.ReasonProvisioned, "Running", false},
		"stopped":               {v1alpha1.ReasonProvisioned, "Stopped", false},
		"provider error":        {v1alpha1.ReasonProvisioned, "Error", false},
		"failed":                {v1alpha1.ReasonErrored, "Building", false},
		"paused":                {v1alpha1.ReasonPaused, "Building", false},
		"without quota":         {v1alpha1.ReasonQuotaExceeded, "", false},
		"being removed":         {v1alpha1.ReasonDeprovisioning, "Running", true},
		"name taken":            {v1alpha1.ReasonNameTaken, "", false},
		"owner mismatch":        {v1alpha1.ReasonOwnerMismatch, "", false},
		"dependency is missing": {v1alpha1.ReasonDependencyNotFound, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			object := newInstance()
			p := projection{status: &object.Status, now: time.Now()}
			p.available(verdict{reason: test.available})
			if active, known := activeOf(region.PowerState(test.active)); known {
				p.set(active)
			}
			if got := moving(object); got != test.want {
				t.Errorf("moving is %v", got)
			}
		})
	}
}

func TestBounded(t *testing.T) {
	if got := bounded("short"); got != "short" {
		t.Errorf("got %q", got)
	}
	if got := bounded(strings.Repeat("ä", 5000)); len([]rune(got)) != messageLimit+1 {
		t.Errorf("got %d characters", len([]rune(got)))
	}
}
