// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/computetest"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
)

func TestReservedKeys(t *testing.T) {
	tests := map[string]bool{
		"unikorn-cloud.org/organization":          true,
		"unikorn-cloud.org/":                      true,
		"regions.unikorn-cloud.org/network-id":    true,
		"a.b.unikorn-cloud.org/c":                 true,
		v1alpha1.LabelInstanceName:                true,
		v1alpha1.AnnotationAllocationID:           true,
		v1alpha1.AnnotationDescription:            false,
		"description":                             false,
		"unikorn-cloud.org":                       false,
		"myunikorn-cloud.org/x":                   false,
		"unikorn-cloud.organic/x":                 false,
		"example.com/unikorn-cloud.org":           false,
		"app.kubernetes.io/name":                  false,
		"principal.unikorn-cloud.org.example.com": false,
	}
	for key, want := range tests {
		if got := reserved(key); got != want {
			t.Errorf("%s: reserved %t, want %t", key, got, want)
		}
	}
}

func TestReservedKeysKeepWhatIsStored(t *testing.T) {
	const key, other = "unikorn-cloud.org/organization", "regions.unikorn-cloud.org/region-id"
	tests := map[string]struct {
		sent, stored, want map[string]string
		warnings           []string
	}{
		"nothing":        {},
		"the user's own": {sent: map[string]string{"app": "web"}, want: map[string]string{"app": "web"}},
		"taken away by the user": {
			sent: map[string]string{}, stored: map[string]string{"app": "web"},
		},
		"description": {
			sent:   map[string]string{v1alpha1.AnnotationDescription: "new"},
			stored: map[string]string{v1alpha1.AnnotationDescription: "old"},
			want:   map[string]string{v1alpha1.AnnotationDescription: "new"},
		},
		"invented": {
			sent:     map[string]string{key: "mine", "app": "web"},
			want:     map[string]string{"app": "web"},
			warnings: []string{"metadata.labels[" + key + "] belongs to the platform: the value sent was ignored"},
		},
		"invented, and nothing else": {
			sent:     map[string]string{key: "mine"},
			warnings: []string{"metadata.labels[" + key + "] belongs to the platform: the value sent was ignored"},
		},
		"as stored": {
			sent: map[string]string{key: "acme"}, stored: map[string]string{key: "acme"}, want: map[string]string{key: "acme"},
		},
		"left out": {
			sent: map[string]string{"app": "web"}, stored: map[string]string{key: "acme"},
			want: map[string]string{"app": "web", key: "acme"},
		},
		"changed, two of them": {
			sent:   map[string]string{key: "mine", other: "south"},
			stored: map[string]string{key: "acme", other: "north"},
			want:   map[string]string{key: "acme", other: "north"},
			warnings: []string{
				"metadata.labels[" + other + "] belongs to the platform: the value sent was ignored",
				"metadata.labels[" + key + "] belongs to the platform: the value sent was ignored",
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			sent := maps.Clone(test.sent)
			got, warnings := keepReservedKeys("metadata.labels", sent, test.stored)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("kept (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.warnings, warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.sent, sent); diff != "" {
				t.Errorf("what was sent has changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestFinalizerOfThePlatform(t *testing.T) {
	tests := map[string]struct {
		sent, stored, want []string
		warnings           int
	}{
		"neither":    {sent: []string{"a"}, want: []string{"a"}},
		"kept":       {sent: []string{"a", "unikorn"}, stored: []string{"unikorn"}, want: []string{"a", "unikorn"}},
		"taken away": {sent: []string{"a"}, stored: []string{"unikorn"}, want: []string{"a", "unikorn"}, warnings: 1},
		"put there":  {sent: []string{"unikorn", "a"}, stored: []string{"a"}, want: []string{"a"}, warnings: 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			obj := &metav1.ObjectMeta{Finalizers: test.sent}
			warnings := keepReserved(obj, &metav1.ObjectMeta{Finalizers: test.stored})
			if diff := cmp.Diff(test.want, obj.Finalizers); diff != "" {
				t.Errorf("finalizers (-want +got):\n%s", diff)
			}
			if len(warnings) != test.warnings {
				t.Errorf("warnings %q, want %d", warnings, test.warnings)
			}
		})
	}
}

// What is left out of a manifest contradicts nobody; what a patch takes off does.
func TestFinalizersLeftOut(t *testing.T) {
	for _, test := range []struct {
		verb     string
		sent     []string
		warnings int
	}{
		{verb: "update"},
		{verb: "update", sent: []string{"example.com/mine"}, warnings: 1},
		{verb: "patch", warnings: 1},
	} {
		ctx := genericapirequest.WithRequestInfo(forWrite(t.Context()), &genericapirequest.RequestInfo{Verb: test.verb})
		instance := computetest.Existing(func(instance *compute.Instance) { instance.Finalizers = test.sent })
		newStrategy(newScheme()).PrepareForUpdate(ctx, instance, computetest.Existing())
		if diff := cmp.Diff(append(test.sent, "unikorn"), instance.Finalizers); diff != "" {
			t.Errorf("%s of %q (-want +got):\n%s", test.verb, test.sent, diff)
		}
		if warnings := findingsFrom(ctx).warnings; len(warnings) != test.warnings {
			t.Errorf("%s of %q: warnings %q, want %d", test.verb, test.sent, warnings, test.warnings)
		}
	}
}

func TestBothMapsAreKept(t *testing.T) {
	stored := computetest.Existing().ObjectMeta
	obj := &metav1.ObjectMeta{Name: computetest.Name}
	if warnings := keepReserved(obj, &stored); len(warnings) != 1 {
		t.Errorf("warnings %q, want one of the finalizer: leaving something out is no contradiction", warnings)
	}
	if diff := cmp.Diff(stored.Labels, obj.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(stored.Annotations, obj.Annotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
}
