// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestDifference(t *testing.T) {
	stored := &widgetRecord{
		ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: "7", Labels: map[string]string{"keep": "1", "drop": "1"}, Finalizers: []string{"f"}},
		Spec:       widgetRecordSpec{Size: 1, Notes: []string{"x"}},
	}
	for name, test := range map[string]struct {
		change func(*widgetRecord)
		want   string
	}{
		"nothing":            {func(*widgetRecord) {}, `{"metadata":{"resourceVersion":"7"}}`},
		"a value":            {func(r *widgetRecord) { r.Spec.Size = 2 }, `{"metadata":{"resourceVersion":"7"},"spec":{"size":2}}`},
		"zero":               {func(r *widgetRecord) { r.Spec.Size = 0 }, `{"metadata":{"resourceVersion":"7"},"spec":{"size":0}}`},
		"a list":             {func(r *widgetRecord) { r.Spec.Notes = nil }, `{"metadata":{"resourceVersion":"7"},"spec":{"notes":null}}`},
		"a label":            {func(r *widgetRecord) { delete(r.Labels, "drop") }, `{"metadata":{"labels":{"drop":null},"resourceVersion":"7"}}`},
		"the last finalizer": {func(r *widgetRecord) { r.Finalizers = nil }, `{"metadata":{"finalizers":null,"resourceVersion":"7"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			desired := stored.DeepCopyObject().(*widgetRecord)
			test.change(desired)
			patch, err := difference(stored, desired)
			if err != nil || string(patch) != test.want {
				t.Errorf("got %s, %v, want %s", patch, err, test.want)
			}
			same, err := unchanged(stored, desired)
			if err != nil || same != (name == "nothing") {
				t.Errorf("unchanged: got %v, %v", same, err)
			}
		})
	}
}

const mixedList = `{"apiVersion":"example.com/v1alpha1","kind":"WidgetRecordList","metadata":{"resourceVersion":"9","continue":"c"},"items":[
	{"metadata":{"name":"sound","uid":"u1"},"spec":{"size":1}},
	{"metadata":{"name":"odd","uid":"u2","labels":{"example.com/name":"w2"}},"spec":{"size":"large"}},
	{"metadata":{"name":"newer","uid":"u3"},"spec":{"size":3,"Size":4,"added":{"later":true}}}]}`

func TestAListSurvivesAnItemThatDoesNotDecode(t *testing.T) {
	s := newWidgetStore(t, http.NotFoundHandler())
	list, err := s.host.decodeList([]byte(mixedList))
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 3 || list.Metadata.ResourceVersion != "9" || list.Metadata.Continue != "c" {
		t.Fatalf("got %+v", list)
	}
	for i, want := range []struct {
		name    string
		size    int64
		corrupt bool
	}{{"sound", 1, false}, {"w2", 0, true}, {"newer", 3, false}} {
		obj := &widget{}
		corruption := s.facade(list.Items[i], obj)
		if obj.Name != want.name || obj.Size != want.size || (corruption != nil) != want.corrupt {
			t.Errorf("%d: got %s of size %d, %v", i, obj.Name, obj.Size, corruption)
		}
	}
}

func FuzzDecodeList(f *testing.F) {
	f.Add([]byte(mixedList))
	f.Add([]byte(`{"items":[null,{"metadata":{"annotations":{"example.com/managed-fields":"H4sI"}}}]}`))
	s := storeAt(f, "http://127.0.0.1:1")
	f.Fuzz(func(_ *testing.T, data []byte) {
		list, err := s.host.decodeList(data)
		if err != nil {
			return
		}
		for _, item := range list.Items {
			_ = s.facade(item, &widget{})
		}
	})
}
