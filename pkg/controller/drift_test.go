// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
)

func TestDriftOf(t *testing.T) {
	plainSpec := v1alpha1.ComputeInstanceSpec{FlavorID: "f1", ImageID: "i1"}
	plainServer := region.Server{Spec: region.ServerSpec{FlavorID: "f1", ImageID: "i1"}}
	for name, test := range map[string]struct {
		spec   func(*v1alpha1.ComputeInstanceSpec)
		server func(*region.Server)
		want   drift
	}{
		"the same": {want: driftNone},
		"empty networking is none": {
			spec: func(s *v1alpha1.ComputeInstanceSpec) { s.Networking = &v1alpha1.ComputeInstanceNetworking{} },
			want: driftNone,
		},
		"empty user data is none": {
			spec: func(s *v1alpha1.ComputeInstanceSpec) { s.UserData = []byte{} },
			want: driftNone,
		},
		"host bits of a prefix": {
			spec: func(s *v1alpha1.ComputeInstanceSpec) {
				s.Networking = &v1alpha1.ComputeInstanceNetworking{AllowedSourceAddresses: []v1alpha1.IPv4Prefix{"10.1.0.7/24"}}
			},
			server: func(s *region.Server) {
				s.Spec.Networking = &region.ServerNetworking{AllowedSourceAddresses: []string{"10.1.0.0/24"}}
			},
			want: driftNone,
		},
		"order and repetition of groups": {
			spec: func(s *v1alpha1.ComputeInstanceSpec) {
				s.Networking = &v1alpha1.ComputeInstanceNetworking{SecurityGroupIDs: []ids.SecurityGroupID{"b", "a", "b"}}
			},
			server: func(s *region.Server) {
				s.Spec.Networking = &region.ServerNetworking{SecurityGroups: []ids.SecurityGroupID{"a", "b"}}
			},
			want: driftNone,
		},
		"case of ids": {
			spec: func(s *v1alpha1.ComputeInstanceSpec) { s.FlavorID, s.ImageID = "F1", "I1" },
			want: driftNone,
		},
		"tags and pause are not the server's": {
			spec: func(s *v1alpha1.ComputeInstanceSpec) { s.Pause, s.Tags = true, []v1alpha1.Tag{{Name: "a"}} },
			want: driftNone,
		},
		"name, description and tags of the server": {
			server: func(s *region.Server) { s.Metadata.Name, s.Metadata.Description = "x", "y" },
			want:   driftNone,
		},
		"another image": {
			spec: func(s *v1alpha1.ComputeInstanceSpec) { s.ImageID = "i2" },
			want: driftUpdate,
		},
		"user data added": {
			spec: func(s *v1alpha1.ComputeInstanceSpec) { s.UserData = []byte("#!") },
			want: driftUpdate,
		},
		"user data removed": {
			server: func(s *region.Server) { s.Spec.UserData = []byte("#!") },
			want:   driftUpdate,
		},
		"public address wanted": {
			spec: func(s *v1alpha1.ComputeInstanceSpec) {
				s.Networking = &v1alpha1.ComputeInstanceNetworking{PublicIP: true}
			},
			want: driftUpdate,
		},
		"public address not wanted any more": {
			server: func(s *region.Server) { s.Spec.Networking = &region.ServerNetworking{PublicIP: true} },
			want:   driftUpdate,
		},
		"another group": {
			spec: func(s *v1alpha1.ComputeInstanceSpec) {
				s.Networking = &v1alpha1.ComputeInstanceNetworking{SecurityGroupIDs: []ids.SecurityGroupID{"a"}}
			},
			server: func(s *region.Server) {
				s.Spec.Networking = &region.ServerNetworking{SecurityGroups: []ids.SecurityGroupID{"b"}}
			},
			want: driftUpdate,
		},
		"another prefix": {
			spec: func(s *v1alpha1.ComputeInstanceSpec) {
				s.Networking = &v1alpha1.ComputeInstanceNetworking{AllowedSourceAddresses: []v1alpha1.IPv4Prefix{"10.1.0.0/25"}}
			},
			server: func(s *region.Server) {
				s.Spec.Networking = &region.ServerNetworking{AllowedSourceAddresses: []string{"10.1.0.0/24"}}
			},
			want: driftUpdate,
		},
		"another flavor": {
			spec: func(s *v1alpha1.ComputeInstanceSpec) { s.FlavorID = "f2" },
			want: driftReplace,
		},
		"another flavor and another image": {
			spec: func(s *v1alpha1.ComputeInstanceSpec) { s.FlavorID, s.ImageID = "f2", "i2" },
			want: driftReplace,
		},
		"an authority added": {
			spec: func(s *v1alpha1.ComputeInstanceSpec) { s.SSHCertificateAuthorityID = "ca" },
			want: driftReplace,
		},
		"an authority removed": {
			server: func(s *region.Server) { s.Status.SSHCertificateAuthorityID = "ca" },
			want:   driftReplace,
		},
	} {
		t.Run(name, func(t *testing.T) {
			spec, server := plainSpec.DeepCopy(), plainServer
			if test.spec != nil {
				test.spec(spec)
			}
			if test.server != nil {
				test.server(&server)
			}
			if got := driftOf(spec, &server); got != test.want {
				t.Errorf("drift is %q, want %q", got, test.want)
			}
		})
	}
}

func TestBodies(t *testing.T) {
	object := newInstance()
	object.Spec.Tags = []v1alpha1.Tag{{Name: "env", Value: "prod"}}
	object.Spec.SSHCertificateAuthorityID = "0f000000-0000-4000-8000-0000000000f1"
	s, err := newSubject(object)
	if err != nil {
		t.Fatal(err)
	}
	const metadata = `"metadata": {
		"name": "web-1", "description": "Server for instance fec34c20-b989-5630-b619-2587bf28a979",
		"tags": [{"name": "compute.unikorn-cloud.org/instance-id", "value": "fec34c20-b989-5630-b619-2587bf28a979"}]}`
	sameJSON(t, createBody(s), `{`+metadata+`, "spec": {
		"networkId": "0d000000-0000-4000-8000-0000000000d1",
		"flavorId": "11111111-1111-1111-1111-111111111111",
		"imageId": "33333333-3333-3333-3333-333333333333",
		"sshCertificateAuthorityId": "0f000000-0000-4000-8000-0000000000f1"}}`)

	object.Spec.Networking = &v1alpha1.ComputeInstanceNetworking{PublicIP: true}
	object.Spec.UserData = []byte("#!/bin/sh")
	sameJSON(t, updateBody(s), `{`+metadata+`, "spec": {
		"flavorId": "11111111-1111-1111-1111-111111111111",
		"imageId": "33333333-3333-3333-3333-333333333333",
		"networking": {"publicIP": true}, "userData": "IyEvYmluL3No"}}`)
}

func sameJSON(t *testing.T, value any, want string) {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var got, expected any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(want), &expected); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(expected, got); diff != "" {
		t.Error(diff)
	}
}
