// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// metadata translates object metadata between façade and custom resource.
type metadata struct {
	nameLabel   string
	uidSalt     string
	finalizers  finalizers
	annotation  string
	fieldBudget int
}

// name is the façade's name of a custom resource.
func (m *metadata) name(cr *metav1.ObjectMeta) string {
	if name := m.label(cr); name != "" {
		return name
	}
	return cr.Name
}

func (m *metadata) label(cr *metav1.ObjectMeta) string {
	if m.nameLabel == "" {
		return ""
	}
	return cr.Labels[m.nameLabel]
}

// labelable tells whether a façade name can be held by the name label at all.
func (m *metadata) labelable(name string) bool {
	return m.nameLabel != "" && len(validation.IsValidLabelValue(name)) == 0
}

// toFacade fills a façade object's metadata. Maps and slices of cr move.
func (m *metadata) toFacade(cr, into *metav1.ObjectMeta) {
	*into = *cr
	into.Name = m.name(cr)
	into.UID = FacadeUID(cr.UID, m.uidSalt)
	into.Finalizers = m.finalizers.swap(cr.Finalizers)
	// The custom resource's own managed fields name this server and its
	// controllers, and paths clients do not know.
	into.ManagedFields = decodeManagedFields(cr.Annotations[m.annotation])
	delete(into.Annotations, m.annotation)
	if len(into.Annotations) == 0 {
		into.Annotations = nil
	}
}

// toNew fills the metadata of a custom resource that is to be created.
func (m *metadata) toNew(obj *metav1.ObjectMeta, at scope, crName string, cr *metav1.ObjectMeta) {
	cr.Name = crName
	cr.Namespace = at.namespace
	cr.GenerateName = obj.GenerateName
	m.copyOwn(obj, cr)
}

// toStored lays a façade object's metadata over what is stored.
func (m *metadata) toStored(obj, cr *metav1.ObjectMeta) {
	stored := cr.Finalizers
	m.copyOwn(obj, cr)
	if cr.DeletionTimestamp != nil {
		cr.Finalizers = m.finalizers.withoutLateCollectors(stored, cr.Finalizers)
	}
}

// copyOwn copies what belongs to the façade's clients.
func (m *metadata) copyOwn(obj, cr *metav1.ObjectMeta) {
	cr.Labels = maps.Clone(obj.Labels)
	cr.Annotations = maps.Clone(obj.Annotations)
	cr.Finalizers = m.finalizers.swap(obj.Finalizers)
	cr.OwnerReferences = slices.Clone(obj.OwnerReferences)
	cr.ManagedFields = nil
}

// seal sets what neither clients nor the mapper decide, and so comes last: the
// name label, which is absent if name is empty, and obj's managed fields,
// whose room depends on the other annotations. kept is what the annotation was.
func (m *metadata) seal(obj, cr *metav1.ObjectMeta, name, kept string) {
	if m.nameLabel != "" {
		cr.Labels = setOrDelete(cr.Labels, m.nameLabel, name)
	}
	cr.Annotations = setOrDelete(cr.Annotations, m.annotation, "")
	cr.Annotations = setOrDelete(cr.Annotations, m.annotation, m.managedFields(obj, cr, kept))
}

func (m *metadata) managedFields(obj, cr *metav1.ObjectMeta, kept string) string {
	entries := collapse(obj.ManagedFields, min(m.fieldBudget, annotationRoom(cr.Annotations, m.annotation)))
	if len(entries) == 0 {
		return ""
	}
	// Equal fields keep their bytes: another build's compressor may well write
	// others, and an update that changes nothing must not become a write.
	if kept != "" && equality.Semantic.DeepEqual(entries, decodeManagedFields(kept)) {
		return kept
	}
	return encodeManagedFields(entries)
}

func setOrDelete(in map[string]string, key, value string) map[string]string {
	if value == "" {
		delete(in, key)
		return in
	}
	if in == nil {
		in = map[string]string{}
	}
	in[key] = value
	return in
}
