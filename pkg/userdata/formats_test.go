// SPDX-License-Identifier: Apache-2.0

package userdata_test

import (
	"testing"

	"github.com/unikorn-cloud/instance-apiserver/pkg/userdata"
)

func TestLabel(t *testing.T) {
	for raw, want := range map[string]string{
		"#cloud-config\nx: 1":               "text/cloud-config",
		"#cloud-configfoo":                  "text/cloud-config",
		"#cloud-config-archive\n- x":        "text/cloud-config-archive",
		"#cloud-config-jsonp\n[]":           "text/cloud-config-jsonp",
		"#cloud-boothook\n":                 "text/cloud-boothook",
		"#include\nhttps://example.com":     "text/x-include-url",
		"#include-once https://example.com": "text/x-include-once-url",
		"#part-handler":                     "text/part-handler",
		"#!/bin/sh":                         "text/x-shellscript",
		"## template: jinja\n#!":            "text/jinja2",
		"##TEMPLATE:jinja2":                 "text/jinja2",
		"\n \u00a0#Cloud-Config-Archive\r":  "text/cloud-config-archive",
		"## template: other":                "",
		"#upstart-job":                      "",
		"Content-Type: multipart/mixed":     "",
		"":                                  "",
	} {
		if got := userdata.Label([]byte(raw)); got != want {
			t.Errorf("%q is labelled %q, want %q", raw, got, want)
		}
	}
}
