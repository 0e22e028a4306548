// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
)

const (
	acme      = "0a000000-0000-4000-8000-0000000000a0"
	alpha     = "0a000000-0000-4000-8000-0000000000a1"
	beta      = "0a000000-0000-4000-8000-0000000000a2"
	north     = "0c000000-0000-4000-8000-0000000000c0"
	alphaNet  = "0d000000-0000-4000-8000-0000000000d1"
	standard4 = "11111111-1111-1111-1111-111111111111"
	gpu8      = "22222222-2222-2222-2222-222222222222"
	ubuntu    = "33333333-3333-3333-3333-333333333333"
	ubuntuGPU = "44444444-4444-4444-4444-444444444444"
	web1      = "fec34c20-b989-5630-b619-2587bf28a979"
)

// newInstance is web-1 of the project alpha, as the API server stores it.
func newInstance() *v1alpha1.ComputeInstance {
	return &v1alpha1.ComputeInstance{
		ObjectMeta: metav1.ObjectMeta{
			Name:       web1,
			Namespace:  "alpha",
			UID:        "6a1e2b52-7c8f-4d0b-9a51-0242ac120002",
			Generation: 1,
			Finalizers: []string{v1alpha1.Finalizer},
			Labels: map[string]string{
				v1alpha1.LabelName:                  "web-1",
				v1alpha1.LabelInstanceName:          "web-1",
				v1alpha1.LabelOrganization:          acme,
				v1alpha1.LabelProject:               alpha,
				v1alpha1.LabelPrincipalOrganization: acme,
				v1alpha1.LabelPrincipalProject:      alpha,
				v1alpha1.LabelRegion:                north,
				v1alpha1.LabelNetwork:               alphaNet,
			},
			Annotations: map[string]string{
				v1alpha1.AnnotationCreator:          "alpha-editor",
				v1alpha1.AnnotationPrincipalCreator: "alpha-editor",
			},
		},
		Spec: v1alpha1.ComputeInstanceSpec{FlavorID: standard4, ImageID: ubuntu},
	}
}

func TestPrincipal(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*v1alpha1.ComputeInstance)
		want   principal.Principal
	}{
		"who is charged": {
			change: func(o *v1alpha1.ComputeInstance) {
				o.Labels[v1alpha1.LabelPrincipalProject] = beta
				o.Annotations[v1alpha1.AnnotationPrincipalCreator] = "alice"
			},
			want: principal.Principal{OrganizationID: acme, ProjectID: beta, Actor: "alice"},
		},
		"the owner where nobody else is": {
			change: func(o *v1alpha1.ComputeInstance) {
				delete(o.Labels, v1alpha1.LabelPrincipalOrganization)
				delete(o.Labels, v1alpha1.LabelPrincipalProject)
				delete(o.Annotations, v1alpha1.AnnotationPrincipalCreator)
				o.Annotations[v1alpha1.AnnotationCreator] = "bob"
			},
			want: principal.Principal{OrganizationID: acme, ProjectID: alpha, Actor: "bob"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			object := newInstance()
			test.change(object)
			s, err := newSubject(object)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, s.principal); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestIncompleteSubject(t *testing.T) {
	for name, test := range map[string]struct {
		change     func(*v1alpha1.ComputeInstance)
		incomplete string
		untouched  bool
	}{
		"complete": {change: func(*v1alpha1.ComputeInstance) {}},
		"no network": {
			change:     func(o *v1alpha1.ComputeInstance) { delete(o.Labels, v1alpha1.LabelNetwork) },
			incomplete: "the object lacks label regions.unikorn-cloud.org/network-id",
		},
		"no annotations": {
			change:     func(o *v1alpha1.ComputeInstance) { o.Annotations = nil },
			incomplete: "the object lacks any annotation",
		},
		"nothing at all": {
			change: func(o *v1alpha1.ComputeInstance) { o.Annotations, o.Labels = nil, nil },
			incomplete: "the object lacks label unikorn-cloud.org/name, label unikorn-cloud.org/organization, " +
				"label unikorn-cloud.org/project, label regions.unikorn-cloud.org/region-id, " +
				"label regions.unikorn-cloud.org/network-id, any annotation",
			untouched: true,
		},
		"a charge without labels": {
			change: func(o *v1alpha1.ComputeInstance) {
				o.Labels = nil
				o.Annotations = map[string]string{v1alpha1.AnnotationAllocationID: "x"}
			},
			incomplete: "the object lacks label unikorn-cloud.org/name, label unikorn-cloud.org/organization, " +
				"label unikorn-cloud.org/project, label regions.unikorn-cloud.org/region-id, " +
				"label regions.unikorn-cloud.org/network-id",
		},
	} {
		t.Run(name, func(t *testing.T) {
			object := newInstance()
			test.change(object)
			s, err := newSubject(object)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != test.incomplete {
				t.Errorf("error is %q, want %q", got, test.incomplete)
			}
			if s.untouched() != test.untouched {
				t.Errorf("untouched is %v", s.untouched())
			}
		})
	}
}

func TestServerID(t *testing.T) {
	s, err := newSubject(newInstance())
	if err != nil {
		t.Fatal(err)
	}
	if id, err := s.serverID(); err != nil || id != web1 {
		t.Errorf("server id is %s, %v", id, err)
	}
}
