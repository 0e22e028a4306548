// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/computetest"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

func TestConsole(t *testing.T) {
	b := newBooth(t)
	for range 2 {
		got, err := post(t, b, "console", &compute.InstanceConsole{})
		if err != nil {
			t.Fatal(err)
		}
		if got.Status.URL != "https://console.example/secret" || got.Name != computetest.Name {
			t.Errorf("answer for %q has not the session", got.Name)
		}
	}
	expectCalls(t, b, "CreateConsoleSession", "CreateConsoleSession")
}

func TestRefusedConsole(t *testing.T) {
	for status, message := range map[int]string{
		http.StatusBadRequest: "a console session is not possible while the machine is Stopped",
		http.StatusNotFound:   "a console session is not possible while the machine is Stopped",
	} {
		b := newBooth(t)
		// The first read after the refusal is still of before.
		b.hall.shown = shows("Running", "Running", "Stopped")
		b.hall.failures["CreateConsoleSession"] = said(status)
		_, err := post(t, b, "console", &compute.InstanceConsole{})
		expectReason(t, err, metav1.StatusReasonConflict)
		if !strings.Contains(err.Error(), message) {
			t.Errorf("%q, want %q", err, message)
		}
	}
	b := newBooth(t)
	b.hall.failures["CreateConsoleSession"] = errDown
	if _, err := post(t, b, "console", &compute.InstanceConsole{}); !errors.Is(err, errDown) {
		t.Errorf("error %v, want region's own", err)
	}
}

func TestSSHKey(t *testing.T) {
	b := newBooth(t)
	got, err := post(t, b, "sshkey", &compute.InstanceSSHKey{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Status.PrivateKey != "secret" || got.Name != computetest.Name {
		t.Errorf("answer for %q has not the key", got.Name)
	}
	expectCalls(t, b, "SSHKey")
}

func TestNoSSHKey(t *testing.T) {
	for injection, why := range map[region.SSHInjection]string{
		region.SSHInjectionCA:              "certificates of its SSH certificate authority",
		region.SSHInjectionNone:            "made without any",
		region.SSHInjectionIdentityKeypair: "the network of the instance has none",
	} {
		for _, dryRun := range [][]string{nil, {metav1.DryRunAll}} {
			b := newBooth(t)
			b.hall.shown[0][0].Status.SSHInjection = injection
			b.hall.failures["SSHKey"] = said(http.StatusNotFound)
			_, err := post(t, b, "sshkey", &compute.InstanceSSHKey{}, dryRun...)
			expectReason(t, err, metav1.StatusReasonNotFound)
			if !strings.Contains(err.Error(), why) {
				t.Errorf("%q does not say why: %q", err, why)
			}
		}
	}
	b := newBooth(t)
	b.hall.failures["SSHKey"] = said(http.StatusInternalServerError)
	_, err := post(t, b, "sshkey", &compute.InstanceSSHKey{})
	expectReason(t, err, metav1.StatusReasonServiceUnavailable)
}

func snap(edits ...func(*compute.InstanceSnapshot)) *compute.InstanceSnapshot {
	request := &compute.InstanceSnapshot{ObjectMeta: metav1.ObjectMeta{Name: "Monday.1"}}
	for _, edit := range edits {
		edit(request)
	}
	return request
}

func tagged(tags ...compute.Tag) func(*compute.InstanceSnapshot) {
	return func(request *compute.InstanceSnapshot) { request.Spec.Tags = tags }
}

func TestSnapshot(t *testing.T) {
	b := newBooth(t)
	got, err := post(t, b, "snapshot", snap(tagged(
		compute.Tag{Name: "compute.unikorn-cloud.org:instance-id", Value: "forged"},
		compute.Tag{Name: "env", Value: "prod"},
		compute.Tag{Name: "compute.unikorn-cloud.org/instance-id", Value: "forged"},
		compute.Tag{Name: "images.unikorn-cloud.org:organization-id", Value: "forged"},
		compute.Tag{Name: "my.compute.unikorn-cloud.org.example:instance-id", Value: "mine"},
	), func(request *compute.InstanceSnapshot) { request.Spec.Description = "before the upgrade" }))
	if err != nil {
		t.Fatal(err)
	}
	own := []compute.Tag{{Name: "env", Value: "prod"}, {Name: "my.compute.unikorn-cloud.org.example:instance-id", Value: "mine"}}
	want := &compute.InstanceSnapshot{
		ObjectMeta: metav1.ObjectMeta{Name: "Monday.1", Namespace: computetest.Namespace, CreationTimestamp: computetest.Created},
		Spec:       compute.InstanceSnapshotSpec{Description: "before the upgrade", Tags: own},
		Status:     compute.InstanceSnapshotStatus{ImageID: computetest.Image, State: "pending"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	sent := []region.SnapshotCreate{{
		Metadata: unikorn.WriteMetadata{Name: "Monday.1", Description: "before the upgrade", Tags: []unikorn.Tag{
			{Name: "env", Value: "prod"},
			{Name: "my.compute.unikorn-cloud.org.example:instance-id", Value: "mine"},
			{Name: "compute.unikorn-cloud.org:instance-id", Value: string(computetest.ObjectName)},
		}},
		Spec: region.SnapshotCreateSpec{},
	}}
	if diff := cmp.Diff(sent, b.hall.snapshots); diff != "" {
		t.Errorf("request to region (-want +got):\n%s", diff)
	}
	if len(b.desk.warnings) != 3 || !strings.HasPrefix(b.desk.warnings[1], "spec.tags[2]: compute.unikorn-cloud.org/instance-id ") {
		t.Errorf("warnings %q", b.desk.warnings)
	}
}

func TestSnapshotForm(t *testing.T) {
	many := make([]compute.Tag, 65)
	for i := range many {
		many[i].Name = strings.Repeat("x", i+1)
	}
	for name, test := range map[string]struct {
		request *compute.InstanceSnapshot
		causes  []string
	}{
		"no name":       {snap(func(s *compute.InstanceSnapshot) { s.Name = "" }), []string{"FieldValueRequired metadata.name"}},
		"bad name":      {snap(func(s *compute.InstanceSnapshot) { s.Name = "-x" }), []string{"FieldValueInvalid metadata.name"}},
		"long name":     {snap(func(s *compute.InstanceSnapshot) { s.Name = strings.Repeat("x", 64) }), []string{"FieldValueTooLong metadata.name"}},
		"too many tags": {snap(tagged(many...)), []string{"FieldValueTooMany spec.tags"}},
		"tags twice":    {snap(tagged(compute.Tag{Name: "a"}, compute.Tag{Name: "a"})), []string{"FieldValueDuplicate spec.tags[1]"}},
		"all at once": {snap(tagged(compute.Tag{}), func(s *compute.InstanceSnapshot) {
			s.Name = ""
			s.Spec.Description = strings.Repeat("x", 1025)
		}), []string{"FieldValueRequired metadata.name", "FieldValueTooLong spec.description", "FieldValueRequired spec.tags[0].name"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBooth(t)
			_, err := post(t, b, "snapshot", test.request)
			expectReason(t, err, metav1.StatusReasonInvalid)
			if diff := cmp.Diff(test.causes, statusCauses(t, err)); diff != "" {
				t.Errorf("causes (-want +got):\n%s", diff)
			}
			expectCalls(t, b)
		})
	}
}

// Region calls the wrong state a server error, so its state tells.
func TestRefusedSnapshot(t *testing.T) {
	for _, test := range []struct {
		state  region.PowerState
		answer error
		reason metav1.StatusReason
	}{
		{region.PowerBuilding, said(http.StatusInternalServerError), metav1.StatusReasonConflict},
		{"", said(http.StatusInternalServerError), metav1.StatusReasonConflict},
		{region.PowerRunning, said(http.StatusInternalServerError), metav1.StatusReasonServiceUnavailable},
		{region.PowerStopped, said(http.StatusInternalServerError), metav1.StatusReasonServiceUnavailable},
		{region.PowerBuilding, said(http.StatusNotFound), metav1.StatusReasonConflict},
		{region.PowerBuilding, errDown, metav1.StatusReasonServiceUnavailable},
	} {
		b := newBooth(t)
		b.hall.shown = shows(test.state)
		b.hall.failures["CreateSnapshot"] = test.answer
		_, err := post(t, b, "snapshot", snap())
		expectReason(t, err, test.reason)
		expectCalls(t, b, "CreateSnapshot")
	}
}
