// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"encoding/json"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	kjson "sigs.k8s.io/json"
)

// decode reads one custom resource. One that does not fit C still has its
// metadata, so that it can be named, relabelled and deleted.
func (h *hostClient[C]) decode(data []byte) (*Stored[C], error) {
	cr := h.newResource()
	err := kjson.UnmarshalCaseSensitivePreserveInts(data, cr)
	if err == nil {
		return &Stored[C]{Object: cr}, nil
	}
	var partial metav1.PartialObjectMetadata
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &partial); err != nil {
		return nil, err
	}
	cr = h.newResource()
	*objectMeta(cr) = partial.ObjectMeta
	return &Stored[C]{Object: cr, undecodable: &Corruption{Reason: "the stored object does not decode"}}, nil
}

func (h *hostClient[C]) decodeList(data []byte) (*hostList[C], error) {
	var typed struct {
		Metadata metav1.ListMeta `json:"metadata"`
		Items    []C             `json:"items"`
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &typed); err != nil {
		return h.decodeMixedList(data)
	}
	list := &hostList[C]{Metadata: typed.Metadata, Items: make([]*Stored[C], len(typed.Items))}
	stored := make([]Stored[C], len(typed.Items))
	for i, item := range typed.Items {
		if reflect.ValueOf(item).IsNil() {
			return nil, fmt.Errorf("item %d of %d of the list is null", i+1, len(typed.Items))
		}
		stored[i].Object = item
		list.Items[i] = &stored[i]
	}
	return list, nil
}

// decodeMixedList reads a list item by item, which costs a second scan, so
// that one item which does not decode does not take the others with it.
func (h *hostClient[C]) decodeMixedList(data []byte) (*hostList[C], error) {
	var raw struct {
		Metadata metav1.ListMeta   `json:"metadata"`
		Items    []json.RawMessage `json:"items"`
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &raw); err != nil {
		return nil, err
	}
	list := &hostList[C]{Metadata: raw.Metadata, Items: make([]*Stored[C], len(raw.Items))}
	for i, item := range raw.Items {
		stored, err := h.decode(item)
		if err != nil {
			return nil, err
		}
		list.Items[i] = stored
	}
	return list, nil
}

// difference is the JSON merge patch that makes desired of stored, valid for
// stored's resourceVersion only.
func difference(stored, desired Object) ([]byte, error) {
	patch, err := changes(stored, desired)
	if err != nil {
		return nil, err
	}
	return pinned(patch, stored.GetResourceVersion())
}

// unchanged tells whether there is nothing to write.
func unchanged(stored, desired Object) (bool, error) {
	patch, err := changes(stored, desired)
	return string(patch) == "{}", err
}

func changes(stored, desired Object) ([]byte, error) {
	before, err := json.Marshal(stored)
	if err != nil {
		return nil, err
	}
	after, err := json.Marshal(desired)
	if err != nil {
		return nil, err
	}
	return jsonmergepatch.CreateThreeWayJSONMergePatch(before, after, before)
}

func pinned(patch []byte, resourceVersion string) ([]byte, error) {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(patch, &fields); err != nil {
		return nil, err
	}
	metadata := map[string]json.RawMessage{}
	if raw, ok := fields["metadata"]; ok {
		if err := json.Unmarshal(raw, &metadata); err != nil {
			return nil, err
		}
	}
	var err error
	if metadata["resourceVersion"], err = json.Marshal(resourceVersion); err != nil {
		return nil, err
	}
	if fields["metadata"], err = json.Marshal(metadata); err != nil {
		return nil, err
	}
	return json.Marshal(fields)
}
