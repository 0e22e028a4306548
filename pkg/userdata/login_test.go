// SPDX-License-Identifier: Apache-2.0

package userdata_test

import (
	"testing"

	"github.com/unikorn-cloud/instance-apiserver/pkg/userdata"
)

const lockedOut = "user data gives nobody a way to log in: "

var loginCases = map[string]struct {
	raw string
	out bool
}{
	"the users of the image":                     {raw: "#cloud-config\npackages: [nginx]\n"},
	"no users at all":                            {raw: "#cloud-config\nusers: []\n", out: true},
	"a user with nothing to log in with":         {raw: "#cloud-config\nusers:\n- name: " + secret + "\n  sudo: ALL=(ALL) NOPASSWD:ALL\n", out: true},
	"a user by name":                             {raw: "#cloud-config\nusers: [" + secret + "]\n", out: true},
	"the default user beside others":             {raw: "#cloud-config\nusers: [default, {name: bob}]\n"},
	"the default user with a shell of its own":   {raw: "#cloud-config\nusers: [{name: default, shell: /bin/zsh}]\n"},
	"a user with keys":                           {raw: "#cloud-config\nusers: [{name: bob, ssh_authorized_keys: [ssh-ed25519 AAAA]}]\n"},
	"a user with keys kept elsewhere":            {raw: "#cloud-config\nusers: [{name: bob, ssh_import_id: [gh:bob]}]\n"},
	"a user with a password":                     {raw: "#cloud-config\nusers: [{name: bob, hashed_passwd: $6$x, lock_passwd: false}]\n"},
	"a user written down elsewhere":              {raw: "#cloud-config\nx: &bob {name: bob}\nusers: [*bob]\n"},
	"a user made of another":                     {raw: "#cloud-config\nx: &bob {passwd: x}\nusers: [{<<: *bob, name: eve}]\n"},
	"users in a form of old":                     {raw: "#cloud-config\nusers: bob\n"},
	"keys for whoever there is":                  {raw: "#cloud-config\nusers: []\nssh_authorized_keys: [ssh-ed25519 AAAA]\n"},
	"another default user":                       {raw: "#cloud-config\nusers: []\nuser: bob\n"},
	"root":                                       {raw: "#cloud-config\nusers: []\ndisable_root: false\n"},
	"commands that may do anything":              {raw: "#cloud-config\nusers: []\nruncmd: [useradd bob]\n"},
	"cloud-config that is merged in another way": {raw: "#cloud-config\nusers: []\nmerge_how: list(append)\n"},
	"compressed":                                 {raw: "gzip", out: true},
	"a later part without users":                 {raw: message(typed("text/cloud-config", "users: []"), typed("text/cloud-config", "x: 1")), out: true},
	"a later part with users":                    {raw: message(typed("text/cloud-config", "users: []"), typed("text/cloud-config", "users: [default]"))},
	"a later part that takes users away":         {raw: message(typed("text/cloud-config", "users: [default]"), typed("text/cloud-config", "users: []")), out: true},
	"a script in another part":                   {raw: message(typed("text/cloud-config", "users: []"), typed("text/x-shellscript", "#!/bin/sh"))},
	"cloud-config from elsewhere":                {raw: message(typed("text/cloud-config", "users: []"), typed("text/x-include-url", "https://example.com"))},
}

func TestLogins(t *testing.T) {
	for name, test := range loginCases {
		t.Run(name, func(t *testing.T) {
			raw := test.raw
			if raw == "gzip" {
				raw = gzipped(t, "#cloud-config\nusers: []\n")
			}
			var want []string
			if test.out {
				want = []string{lockedOut}
			}
			expect(t, "unmanaged", userdata.Warnings([]byte(raw)), want)
		})
	}
}

func TestAnAuthorityLetsSomebodyIn(t *testing.T) {
	expect(t, "managed", userdata.WarningsManaged([]byte("#cloud-config\nusers: []\n")), nil)
}
