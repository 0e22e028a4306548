// SPDX-License-Identifier: Apache-2.0

package region_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
)

func TestNormalize(t *testing.T) {
	tests := map[string]struct {
		sent, want region.ServerSpec
	}{
		"nothing":    {},
		"empty data": {sent: region.ServerSpec{UserData: []byte{}}},
		"empty networking": {sent: region.ServerSpec{Networking: &region.ServerNetworking{
			SecurityGroups: []ids.SecurityGroupID{}, AllowedSourceAddresses: []string{},
		}}},
		"one empty member": {
			sent: region.ServerSpec{Networking: &region.ServerNetworking{PublicIP: true, SecurityGroups: []ids.SecurityGroupID{}}},
			want: region.ServerSpec{Networking: &region.ServerNetworking{PublicIP: true}},
		},
		"host bits": {
			sent: region.ServerSpec{Networking: &region.ServerNetworking{AllowedSourceAddresses: []string{"10.1.0.7/24", "10.0.0.0/8", "nonsense"}}},
			want: region.ServerSpec{Networking: &region.ServerNetworking{AllowedSourceAddresses: []string{"10.1.0.0/24", "10.0.0.0/8", "nonsense"}}},
		},
		"order": {
			sent: region.ServerSpec{Networking: &region.ServerNetworking{SecurityGroups: []ids.SecurityGroupID{"b", "a"}}},
			want: region.ServerSpec{Networking: &region.ServerNetworking{SecurityGroups: []ids.SecurityGroupID{"b", "a"}}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := test.sent.Normalize()
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			// What region stores is what goes over the wire and back.
			content, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			var back region.ServerSpec
			if err := json.Unmarshal(content, &back); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got, back.Normalize()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
