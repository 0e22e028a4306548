// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/computetest"
	"github.com/unikorn-cloud/instance-apiserver/pkg/userdata"
)

// noLogin begins the warning of an instance without authority and user data.
const noLogin = "spec.sshCertificateAuthorityID: without an authority or user data there is no way to log in"

const secretScript = "#!/bin/sh\necho hunter2\n"

func withUserData(raw string) func(*compute.Instance) {
	return func(instance *compute.Instance) { instance.Spec.UserData = []byte(raw) }
}

func withoutAuthority(edit func(*compute.Instance)) func(*compute.Instance) {
	return func(instance *compute.Instance) {
		instance.Spec.SSHCertificateAuthorityID = ""
		edit(instance)
	}
}

func oversize() string {
	return "#!/bin/sh\n" + strings.Repeat("#", userdata.MaxSize)
}

func TestUserDataOnCreate(t *testing.T) {
	const cause = "FieldValueInvalid spec.userData"
	tests := map[string]struct {
		raw                string
		managed, unmanaged []string
	}{
		"none":       {raw: ""},
		"script":     {raw: secretScript},
		"gzip":       {raw: "\x1f\x8b\x08hunter2", managed: []string{cause}},
		"plain YAML": {raw: "password: hunter2\n", managed: []string{cause}, unmanaged: []string{cause}},
		// How much room an authority leaves is known only once it was looked up.
		"oversize": {raw: oversize(), unmanaged: []string{cause}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			computetest.ExpectCauses(t, formOnCreate(t, withUserData(test.raw)), test.managed...)
			errs := formOnCreate(t, withoutAuthority(withUserData(test.raw)))
			computetest.ExpectCauses(t, errs, test.unmanaged...)
			if text := errs.ToAggregate(); text != nil && strings.Contains(text.Error(), "hunter2") {
				t.Errorf("the error shows user data: %v", text)
			}
		})
	}
}

func TestUserDataLeavesRoomForTheAuthority(t *testing.T) {
	d := newDesk(t)
	d.platform.authorities[computetest.Authority].Spec.PublicKey = "ssh-ed25519 AAAA"
	_, err := d.create(t, computetest.Instance(func(instance *compute.Instance) {
		instance.Spec.UserData = bytes.Repeat([]byte("#!"), userdata.MaxSize/2)
	}))
	if causes := statusCauses(t, err); !slices.Equal(causes, []string{"FieldValueInvalid spec.userData"}) {
		t.Errorf("causes %v, %v", causes, err)
	}
}

func TestUserDataOnUpdate(t *testing.T) {
	tests := map[string]struct {
		edit func(*compute.Instance)
		want []string
	}{
		"what no parser knows, no longer judged": {edit: withUserData("password: hunter2\n")},
		"gzip with the authority in the request": {edit: withUserData("\x1f\x8b\x08"), want: []string{"FieldValueInvalid spec.userData"}},
		"gzip and no authority any more":         {edit: withoutAuthority(withUserData("\x1f\x8b\x08"))},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			computetest.ExpectCauses(t, formOnUpdate(t, test.edit), test.want...)
		})
	}
}

func TestWarningsOfChange(t *testing.T) {
	tests := map[string]struct {
		edit func(*compute.Instance)
		want []string
	}{
		"tags":      {edit: retag},
		"flavor":    {edit: enlarge, want: []string{"spec.flavorID: the machine is replaced by a new one; its root disk and its addresses are lost; it runs afterwards, also if it was stopped"}},
		"authority": {edit: withoutAuthority(withUserData("")), want: []string{"spec.sshCertificateAuthorityID: the machine is replaced", noLogin}},
		"authority of a machine with user data": {
			edit: withoutAuthority(withUserData(secretScript)),
			want: []string{"spec.sshCertificateAuthorityID: the machine is replaced"},
		},
		"image":     {edit: func(i *compute.Instance) { i.Spec.ImageID = otherImage }, want: []string{"spec.imageID: the machine is rebuilt"}},
		"user data": {edit: withUserData(secretScript), want: []string{"spec.userData: the change takes effect"}},
		"user data that region refuses": {
			edit: withUserData("password: hunter2\n"),
			want: []string{"spec.userData: the change takes effect", "spec.userData: the platform will not change or replace the machine with it: user data is in no format"},
		},
		"user data of a new machine": {
			edit: func(i *compute.Instance) { enlarge(i); withUserData("#!\n")(i) },
			want: []string{"spec.flavorID: the machine is replaced", "spec.userData: user data fails in the guest"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, computetest.Existing())
			if _, err := d.update(t, test.edit); err != nil {
				t.Fatal(err)
			}
			expectWarnings(t, d.warnings, test.want)
		})
	}
}

func TestWarningsOnCreate(t *testing.T) {
	tests := map[string]struct {
		edit func(*compute.Instance)
		want []string
	}{
		"an authority":                      {edit: func(*compute.Instance) {}},
		"user data":                         {edit: withoutAuthority(withUserData(secretScript))},
		"neither":                           {edit: withoutAuthority(withUserData("")), want: []string{noLogin}},
		"user data that lets nobody in":     {edit: withoutAuthority(withUserData("#cloud-config\nusers: []\n")), want: []string{"spec.userData: user data gives nobody a way to log in"}},
		"the same with an authority":        {edit: withUserData("#cloud-config\nusers: []\n")},
		"user data that the guest fails at": {edit: withUserData("#!\n"), want: []string{"spec.userData: user data fails in the guest"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			if _, err := d.create(t, computetest.Instance(test.edit)); err != nil {
				t.Fatal(err)
			}
			expectWarnings(t, d.warnings, test.want)
		})
	}
}

// expectWarnings compares warnings with a beginning of each.
func expectWarnings(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.EqualFunc(got, want, strings.HasPrefix) {
		t.Errorf("warnings %q, want %q", got, want)
	}
}
