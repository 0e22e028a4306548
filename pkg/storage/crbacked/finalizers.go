// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// finalizers swaps the names of the two finalizers which the garbage collector
// acts on with names of our own. The collector runs against the custom
// resource as well as against the façade: under its own name it would take the
// façade's finalizer off the custom resource, or never take it off.
type finalizers map[string]string

func newFinalizers(prefix string) finalizers {
	swap := finalizers{}
	for theirs, ours := range map[string]string{
		metav1.FinalizerDeleteDependents: prefix + "/foreground-deletion",
		metav1.FinalizerOrphanDependents: prefix + "/orphan",
	} {
		swap[theirs] = ours
		swap[ours] = theirs
	}
	return swap
}

// swap translates a list either way: it is its own inverse, so a collector's
// finalizer on the custom resource itself shows under our name and goes back
// as it was.
func (f finalizers) swap(in []string) []string {
	out := slices.Clone(in)
	for i, name := range out {
		if other, ok := f[name]; ok {
			out[i] = other
		}
	}
	return out
}

// withoutLateCollectors drops from next what a deletion in progress no longer
// admits: the host refuses new finalizers on a terminating object, and a
// second delete of other propagation is not to fail on that. Both lists are in
// the host's names.
func (f finalizers) withoutLateCollectors(stored, next []string) []string {
	return slices.DeleteFunc(slices.Clone(next), func(name string) bool {
		_, collectors := f[name]
		return collectors && !slices.Contains(stored, name)
	})
}
