// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
)

func entry(manager string, operation metav1.ManagedFieldsOperationType, minute int, fields ...string) metav1.ManagedFieldsEntry {
	set := map[string]struct{}{}
	for _, field := range fields {
		set["f:"+field] = struct{}{}
	}
	raw, err := json.Marshal(map[string]any{"f:spec": set})
	if err != nil {
		panic(err)
	}
	at := metav1.NewTime(time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC))
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: operation, APIVersion: "example.com/v1beta1", Time: &at,
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(string(raw)),
	}
}

func TestManagedFieldsRoundTrip(t *testing.T) {
	entries := []metav1.ManagedFieldsEntry{
		entry("kubectl", metav1.ManagedFieldsOperationApply, 1, "size"),
		entry("controller", metav1.ManagedFieldsOperationUpdate, 2, "notes"),
	}
	entries[1].Subresource = "status"
	value := encodeManagedFields(entries)
	if strings.Contains(value, "kubectl") {
		t.Errorf("not compressed: %s", value)
	}
	if got := decodeManagedFields(value); !equality.Semantic.DeepEqual(got, entries) {
		t.Errorf("got %v, want %v", got, entries)
	}
	if again := encodeManagedFields(decodeManagedFields(value)); again != value {
		t.Error("a second round differs from the first")
	}
}

func packed(text string) string {
	var buffer bytes.Buffer
	writer := gzip.NewWriter(&buffer)
	_, _ = writer.Write([]byte(text))
	_ = writer.Close()
	return base64.StdEncoding.EncodeToString(buffer.Bytes())
}

func TestUnusableManagedFieldsAreNone(t *testing.T) {
	whole := encodeManagedFields([]metav1.ManagedFieldsEntry{entry("a", metav1.ManagedFieldsOperationApply, 1, "size")})
	for name, value := range map[string]string{
		"empty":          "",
		"no base64":      "%%%",
		"no gzip":        base64.StdEncoding.EncodeToString([]byte("hello")),
		"cut off":        whole[:len(whole)/2],
		"no JSON":        packed("hello"),
		"no list":        packed(`{"manager":"a"}`),
		"a bomb":         packed("[" + strings.Repeat(" ", maxManagedFieldsBytes) + "]"),
		"no field set":   packed(`[{"manager":"a","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"x":1}}]`),
		"no operation":   packed(`[{"manager":"a","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{}}]`),
		"no API version": packed(`[{"manager":"a","operation":"Apply","fieldsType":"FieldsV1","fieldsV1":{}}]`),
		"other type":     packed(`[{"manager":"a","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV2","fieldsV1":{}}]`),
	} {
		t.Run(name, func(t *testing.T) {
			obj := &widget{ObjectMeta: metav1.ObjectMeta{ManagedFields: decodeManagedFields(value)}}
			onlyReadableManagedFields(obj)
			if len(obj.ManagedFields) != 0 {
				t.Errorf("got %v", obj.ManagedFields)
			}
		})
	}
}

func FuzzDecodeManagedFields(f *testing.F) {
	f.Add(encodeManagedFields([]metav1.ManagedFieldsEntry{entry("a", metav1.ManagedFieldsOperationApply, 1, "size")}))
	f.Add(packed(`[{"fieldsV1":{"f:a":{"k:{\"x\":1}":{}}}}]`))
	f.Fuzz(func(t *testing.T, value string) {
		obj := &widget{ObjectMeta: metav1.ObjectMeta{ManagedFields: decodeManagedFields(value)}}
		onlyReadableManagedFields(obj)
		if got := collapse(obj.ManagedFields, 200); len(got) > 0 && len(encodeManagedFields(got)) > 200 {
			t.Errorf("over budget: %v", got)
		}
	})
}

// manyFields are names that do not compress.
func manyFields(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = rand.String(16)
	}
	return names
}

func TestCollapse(t *testing.T) {
	// Updates of the same fields: each merging saves as much as an entry takes.
	// A compressor that looks back far enough would see to that itself, so
	// there are more of them than it does.
	shared := manyFields(3000)
	oldest := entry("oldest", metav1.ManagedFieldsOperationUpdate, 1, shared...)
	older := entry("older", metav1.ManagedFieldsOperationUpdate, 2, shared...)
	newest := entry("newest", metav1.ManagedFieldsOperationUpdate, 3, shared...)
	applied := entry("applied", metav1.ManagedFieldsOperationApply, 0, manyFields(20)...)
	all := []metav1.ManagedFieldsEntry{applied, newest, older, oldest}
	whole := len(encodeManagedFields(all))
	twoMerged := len(encodeManagedFields(mergeOldest(all)))

	for name, test := range map[string]struct {
		budget   int
		managers string
	}{
		"fits":               {whole, "[applied newest older oldest]"},
		"two oldest updates": {whole - 1, "[ancient-changes newest applied]"},
		"all updates":        {twoMerged - 1, "[ancient-changes applied]"},
		"nothing fits":       {100, "[]"},
		"no room at all":     {-1, "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			var managers []string
			got := collapse(all, test.budget)
			for _, entry := range got {
				managers = append(managers, entry.Manager)
			}
			if fmt.Sprint(managers) != test.managers {
				t.Errorf("got %v, want %s", managers, test.managers)
			}
			if len(got) > 0 && len(encodeManagedFields(got)) > test.budget {
				t.Error("over budget")
			}
		})
	}
}

func TestMergeEntries(t *testing.T) {
	oldest := entry("oldest", metav1.ManagedFieldsOperationApply, 1, "a", "b")
	older := entry("older", metav1.ManagedFieldsOperationUpdate, 2, "b", "c")
	merged, ok := mergeEntries(oldest, older)
	if !ok || merged.Operation != metav1.ManagedFieldsOperationUpdate || !merged.Time.Equal(older.Time) {
		t.Errorf("got %v", merged)
	}
	got, _ := fieldSet(merged)
	for _, part := range []metav1.ManagedFieldsEntry{oldest, older} {
		if set, _ := fieldSet(part); !set.Difference(got).Empty() {
			t.Errorf("fields of %s are lost", part.Manager)
		}
	}
}

func TestCollapseKeepsVersionsAndSubresourcesApart(t *testing.T) {
	main := entry("a", metav1.ManagedFieldsOperationUpdate, 1, manyFields(20)...)
	status := entry("b", metav1.ManagedFieldsOperationUpdate, 2, manyFields(20)...)
	status.Subresource = "status"
	other := entry("c", metav1.ManagedFieldsOperationUpdate, 3, manyFields(20)...)
	other.APIVersion = "example.com/v2"
	if got := mergeOldest([]metav1.ManagedFieldsEntry{main, status, other}); got != nil {
		t.Errorf("merged %v", got)
	}
}
