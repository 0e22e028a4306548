// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
)

// reserved says whether a label or annotation key belongs to the server: keys
// under unikorn-cloud.org and its subdomains, but for the description, which
// is the user's.
func reserved(key string) bool {
	domain, _, qualified := strings.Cut(key, "/")
	if !qualified || key == v1alpha1.AnnotationDescription {
		return false
	}
	return domain == "unikorn-cloud.org" || strings.HasSuffix(domain, ".unikorn-cloud.org")
}

// keepReserved puts what is stored under reserved keys in the place of what
// the client sent for them, and the platform's finalizer back. It returns a
// warning for each key the client meant otherwise.
func keepReserved(obj, stored *metav1.ObjectMeta) []string {
	var warnings []string
	obj.Labels, warnings = keepReservedKeys("metadata.labels", obj.Labels, stored.Labels)
	annotations, more := keepReservedKeys("metadata.annotations", obj.Annotations, stored.Annotations)
	obj.Annotations = annotations
	warnings = append(warnings, more...)
	return append(warnings, keepFinalizer(obj, stored)...)
}

func keepReservedKeys(path string, sent, stored map[string]string) (kept map[string]string, warnings []string) {
	kept = map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(sent)) {
		if !reserved(key) {
			kept[key] = sent[key]
		} else if value, ok := stored[key]; !ok || value != sent[key] {
			warnings = append(warnings, fmt.Sprintf("%s[%s] belongs to the platform: the value sent was ignored", path, key))
		}
	}
	for key, value := range stored {
		if reserved(key) {
			kept[key] = value
		}
	}
	if len(kept) == 0 {
		return nil, warnings
	}
	return kept, warnings
}

func keepFinalizer(obj, stored *metav1.ObjectMeta) []string {
	had := slices.Contains(stored.Finalizers, v1alpha1.Finalizer)
	has := slices.Contains(obj.Finalizers, v1alpha1.Finalizer)
	switch {
	case had && !has:
		obj.Finalizers = append(slices.Clone(obj.Finalizers), v1alpha1.Finalizer)
		return []string{fmt.Sprintf("metadata.finalizers: %q is the platform's and stays until the machine is gone", v1alpha1.Finalizer)}
	case has && !had:
		obj.Finalizers = slices.DeleteFunc(slices.Clone(obj.Finalizers), func(f string) bool { return f == v1alpha1.Finalizer })
		return []string{fmt.Sprintf("metadata.finalizers: %q is the platform's and was left out", v1alpha1.Finalizer)}
	default:
		return nil
	}
}

// replaces says whether the request sends the whole object. A manifest that has
// no finalizers at all means no more by it than by the labels it does not have;
// a patch that takes them off does.
func replaces(ctx context.Context) bool {
	info, ok := genericapirequest.RequestInfoFrom(ctx)
	return ok && info.Verb == "update"
}

// platformFinalizer is the platform's among the finalizers, if it is there.
func platformFinalizer(stored []string) []string {
	if !slices.Contains(stored, v1alpha1.Finalizer) {
		return nil
	}
	return []string{v1alpha1.Finalizer}
}
