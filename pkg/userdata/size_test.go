// SPDX-License-Identifier: Apache-2.0

package userdata_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/unikorn-cloud/instance-apiserver/pkg/userdata"
)

const authorityKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8qz0L8k3b8b5yq8rUq3m3Yw1nWJtZs0Qv6m5cM9d1x authority@example"

func TestMaxSize(t *testing.T) {
	const characters = 65535
	if fits, over := base64.StdEncoding.EncodedLen(userdata.MaxSize), base64.StdEncoding.EncodedLen(userdata.MaxSize+1); fits > characters || over <= characters {
		t.Errorf("%d bytes are %d characters, one more are %d", userdata.MaxSize, fits, over)
	}
}

// TestSize has, as added, what region was seen to add for the authority: less
// where it decodes a part.
func TestSize(t *testing.T) {
	script := "#!/bin/sh\n" + strings.Repeat("x", 1000)
	twoParts := message(typed("text/x-shellscript", script), encoded("base64", base64Of(script)))
	for _, test := range []struct {
		name, raw string
		added     int
	}{
		{"nothing", "", 614},
		{"cloud-config", "#cloud-config\n", 1086},
		{"script", script, 1087},
		{"archive", "#cloud-config-archive\n", 1086},
		{"multipart", twoParts, 1030},
		{"decoded on the way", message(encoded("quoted-printable", strings.Repeat("=23", 1000))), -1074},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := userdata.Size([]byte(test.raw), ""); got != len(test.raw) {
				t.Errorf("unmanaged: %d, want %d", got, len(test.raw))
			}
			got, region := userdata.Size([]byte(test.raw), authorityKey), len(test.raw)+test.added
			t.Log(got - region)
			if got < region || got > region+100 {
				t.Errorf("managed: %d, want %d or a little more", got, region)
			}
		})
	}
	for _, refused := range []string{"hello", "\n#cloud-config\n", "\x1f\x8b", mime(versioned, "", "--b", "", "x")} {
		if got := userdata.Size([]byte(refused), authorityKey); got != len(refused) {
			t.Errorf("%q is never sent, and counts as %d", refused, got)
		}
	}
	longKey := authorityKey + strings.Repeat("x", 500)
	if short, long := userdata.Size([]byte(script), authorityKey), userdata.Size([]byte(script), longKey); long-short != 500 {
		t.Errorf("500 more bytes of key make a difference of %d", long-short)
	}
}

func TestCheckSize(t *testing.T) {
	begin := "#cloud-config\n#"
	fill := func(size int) string { return begin + strings.Repeat("x", size-len(begin)) }
	added := userdata.Size([]byte(begin), authorityKey) - len(begin)
	for _, test := range []struct {
		name, raw, key string
		// what the error says, if any.
		want []string
	}{
		{"nothing", "", "", nil},
		{"nothing, managed", "", authorityKey, nil},
		{"full", fill(userdata.MaxSize), "", nil},
		{"over", fill(userdata.MaxSize + 1), "", []string{" 49150 bytes", "at most 49149", "gzip"}},
		{"full, managed", fill(userdata.MaxSize - added), authorityKey, nil},
		{"over, managed", fill(userdata.MaxSize - added + 7), authorityKey, []string{" 49156 bytes", "at most 49149", "by 7 bytes"}},
		{"over by what is added", fill(userdata.MaxSize), authorityKey, []string{"SSH certificate authority"}},
		{"over compressed", "\x1f\x8b" + fill(userdata.MaxSize), "", []string{"at most 49149"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := userdata.CheckSize([]byte(test.raw), test.key)
			if (err == nil) != (test.want == nil) {
				t.Fatalf("got %v", err)
			}
			for _, text := range test.want {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%q lacks %q", err, text)
				}
			}
		})
	}
}
