// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"slices"
	"sort"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

const (
	// collapsedManager is the manager that merged entries go under: the name
	// the API server's own field manager uses when there are too many.
	collapsedManager = "ancient-changes"

	// maxManagedFieldsBytes bounds what an annotation may unpack to, whoever
	// wrote it.
	maxManagedFieldsBytes = 4 << 20
)

// encodeManagedFields is base64 of gzip of the entries' JSON.
func encodeManagedFields(entries []metav1.ManagedFieldsEntry) string {
	data, err := json.Marshal(entries)
	if err != nil {
		// Raw field sets are the only part that can fail: they are not JSON.
		return ""
	}
	var packed bytes.Buffer
	// Neither call can fail on a buffer.
	writer := gzip.NewWriter(&packed)
	_, _ = writer.Write(data)
	_ = writer.Close()
	return base64.StdEncoding.EncodeToString(packed.Bytes())
}

// decodeManagedFields reads what encodeManagedFields wrote. Anything else is
// no managed fields at all: they are bookkeeping, and no reason to withhold
// an object.
func decodeManagedFields(value string) []metav1.ManagedFieldsEntry {
	if value == "" {
		return nil
	}
	packed, err := base64.StdEncoding.DecodeString(value)
	if err != nil {
		return nil
	}
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(reader, maxManagedFieldsBytes+1))
	if err != nil || len(data) > maxManagedFieldsBytes {
		return nil
	}
	var entries []metav1.ManagedFieldsEntry
	if err := json.Unmarshal(data, &entries); err != nil {
		return nil
	}
	return entries
}

// onlyReadableManagedFields drops managed fields if the field manager could not
// read all of them: it would refuse an update over it.
func onlyReadableManagedFields(obj metav1.Object) {
	if slices.ContainsFunc(obj.GetManagedFields(), unreadable) {
		obj.SetManagedFields(nil)
	}
}

func unreadable(entry metav1.ManagedFieldsEntry) bool {
	switch entry.Operation {
	case metav1.ManagedFieldsOperationApply, metav1.ManagedFieldsOperationUpdate:
	default:
		return true
	}
	_, ok := fieldSet(entry)
	return !ok || entry.APIVersion == "" || entry.FieldsType != "FieldsV1"
}

func fieldSet(entry metav1.ManagedFieldsEntry) (*fieldpath.Set, bool) {
	set := &fieldpath.Set{}
	if entry.FieldsV1 == nil {
		return set, true
	}
	return set, set.FromJSON(entry.FieldsV1.GetRawReader()) == nil
}

// annotationRoom is how much of the host's limit on annotations is left for
// the value of key.
func annotationRoom(annotations map[string]string, key string) int {
	room := apivalidation.TotalAnnotationSizeLimitB - len(key)
	for k, v := range annotations {
		room -= len(k) + len(v)
	}
	return room
}

// collapse merges entries until they fit budget, the oldest first and those of
// updates before those of apply, whose loss clients notice. If no merging
// makes them fit there are none: a write never fails over its bookkeeping.
func collapse(entries []metav1.ManagedFieldsEntry, budget int) []metav1.ManagedFieldsEntry {
	for len(entries) > 0 && len(encodeManagedFields(entries)) > budget {
		entries = mergeOldest(entries)
	}
	return entries
}

// mergeOldest merges one more entry into the collapsed one of its version and
// subresource. It returns fewer entries, or none if there is nothing to merge.
func mergeOldest(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	ordered := slices.Clone(entries)
	sort.SliceStable(ordered, func(i, j int) bool { return mergesBefore(ordered[i], ordered[j]) })
	for i := range ordered {
		for j := i + 1; j < len(ordered); j++ {
			if ordered[i].APIVersion != ordered[j].APIVersion || ordered[i].Subresource != ordered[j].Subresource {
				continue
			}
			merged, ok := mergeEntries(ordered[i], ordered[j])
			if !ok {
				return nil
			}
			ordered[i] = merged
			return slices.Delete(ordered, j, j+1)
		}
	}
	return nil
}

func mergesBefore(a, b metav1.ManagedFieldsEntry) bool {
	if rankA, rankB := mergeRank(a), mergeRank(b); rankA != rankB {
		return rankA < rankB
	}
	if a.Time == nil || b.Time == nil {
		return a.Time == nil && b.Time != nil
	}
	return a.Time.Before(b.Time)
}

func mergeRank(entry metav1.ManagedFieldsEntry) int {
	switch {
	case entry.Operation == metav1.ManagedFieldsOperationApply:
		return 2
	case entry.Manager == collapsedManager:
		return 0
	default:
		return 1
	}
}

func mergeEntries(a, b metav1.ManagedFieldsEntry) (metav1.ManagedFieldsEntry, bool) {
	setA, okA := fieldSet(a)
	setB, okB := fieldSet(b)
	if !okA || !okB {
		return metav1.ManagedFieldsEntry{}, false
	}
	raw, err := setA.Union(setB).ToJSON()
	if err != nil {
		return metav1.ManagedFieldsEntry{}, false
	}
	newer := a.Time
	if newer.Before(b.Time) {
		newer = b.Time
	}
	return metav1.ManagedFieldsEntry{
		Manager:     collapsedManager,
		Operation:   metav1.ManagedFieldsOperationUpdate,
		APIVersion:  a.APIVersion,
		Time:        newer,
		FieldsType:  "FieldsV1",
		FieldsV1:    metav1.NewFieldsV1(string(raw)),
		Subresource: a.Subresource,
	}, true
}
