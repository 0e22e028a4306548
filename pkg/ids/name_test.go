// SPDX-License-Identifier: Apache-2.0

package ids_test

import (
	"testing"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
)

func TestInstanceObjectName(t *testing.T) {
	tests := []struct {
		network ids.NetworkID
		name    string
		want    ids.InstanceID
	}{
		{"6ba7b810-9dad-11d1-80b4-00c04fd430c8", "foo:bar", "fd088d96-7c6b-5adf-8581-cbb18a5dad67"},
		{"6ba7b810-9dad-11d1-80b4-00c04fd430c8", "foo:baz", "fae08b48-6d31-57e0-ba2d-1619034aaae7"},
		{"a64f9269-36e0-4312-b8d1-52d93d569b7b", "my-instance", "a3e9a4b9-9fdf-5641-833f-ecd5672042ba"},
		{"a64f9269-36e0-4312-b8d1-52d93d569b7b", "web-0", "de424327-addf-5291-a7e4-dee387b94b4f"},
		{"a64f9269-36e0-4312-b8d1-52d93d569b7b", "web-1", "cd25dd4c-f6f8-585a-b458-f46ec154dae7"},
		{"b059b3e6-9ae5-42b7-94b4-f42fb7a6baee", "my-host", "cea82847-20ce-5f13-87fb-9f3cc7da081d"},
		{"0d000000-0000-4000-8000-0000000000d1", "web-1", "fec34c20-b989-5630-b619-2587bf28a979"},
	}
	for _, test := range tests {
		t.Run(string(test.network)+"/"+test.name, func(t *testing.T) {
			got, err := ids.InstanceObjectName(test.network, test.name)
			if err != nil {
				t.Fatal(err)
			}
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestInstanceObjectNameRefusesMalformedNetwork(t *testing.T) {
	if _, err := ids.InstanceObjectName("net-1", "web-1"); err == nil {
		t.Error("a network id that is not a UUID was accepted")
	}
}

func TestIsUUID(t *testing.T) {
	tests := map[string]bool{
		"0d000000-0000-4000-8000-0000000000d1":          true,
		"0D000000-0000-4000-8000-0000000000D1":          false,
		"0d0000000000400080000000000000d1":              false,
		"{0d000000-0000-4000-8000-0000000000d1}":        false,
		"urn:uuid:0d000000-0000-4000-8000-0000000000d1": false,
		"0d000000-0000-4000-8000-0000000000d":           false,
		"":                                              false,
	}
	for text, want := range tests {
		if got := ids.IsUUID(text); got != want {
			t.Errorf("%q: got %t, want %t", text, got, want)
		}
	}
}
