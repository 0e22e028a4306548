// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// widget is a façade object, widgetRecord its custom resource.
type widget struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Size int64
}

type widgetRecord struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              widgetRecordSpec `json:"spec"`
}

type widgetRecordSpec struct {
	Size  int64    `json:"size"`
	Notes []string `json:"notes,omitempty"`
}

func (w *widget) DeepCopyObject() runtime.Object {
	out := *w
	w.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

func (w *widgetRecord) DeepCopyObject() runtime.Object {
	out := *w
	w.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.Notes = append([]string(nil), w.Spec.Notes...)
	return &out
}

type widgetMapper struct{}

func (widgetMapper) NewObject() *widget         { return &widget{} }
func (widgetMapper) NewResource() *widgetRecord { return &widgetRecord{} }

func (widgetMapper) CRName(w *widget) (string, error) { return "record-of-" + w.Name, nil }

func (widgetMapper) ToObject(record *widgetRecord, w *widget) *Corruption {
	w.Size = record.Spec.Size
	if w.Size < 0 {
		return &Corruption{Field: "spec.size", Reason: "is negative"}
	}
	return nil
}

func (widgetMapper) ToCR(w *widget, record *widgetRecord) error {
	record.Spec.Size = w.Size
	return nil
}

const (
	testNameLabel  = "example.com/name"
	testAnnotation = "example.com/managed-fields"
)

var (
	widgets = Names{GroupVersion: schema.GroupVersion{Group: "example.com", Version: "v1beta1"}, Kind: "Widget", Resource: "widgets"}
	records = Names{GroupVersion: schema.GroupVersion{Group: "example.com", Version: "v1alpha1"}, Kind: "WidgetRecord", Resource: "widgetrecords"}
)

type widgetStore = Store[*widget, *widgetRecord]

// newWidgetStore returns a store whose host is handler.
func newWidgetStore(t *testing.T, handler http.Handler) *widgetStore {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return storeAt(t, server.URL)
}

// storeAt returns a store whose host is at address.
func storeAt(t testing.TB, address string) *widgetStore {
	t.Helper()
	client, err := ClientFor(&rest.Config{Host: address}, records.GroupVersion)
	if err != nil {
		t.Fatal(err)
	}
	store, err := New(Config[*widget, *widgetRecord]{
		Host:                    client,
		Mapper:                  widgetMapper{},
		Facade:                  widgets,
		Stored:                  records,
		ResourcePrefix:          "widgets",
		NameLabel:               testNameLabel,
		ForeignName:             func(name string) bool { return name == "foreign" },
		UIDSalt:                 "widgets.example.com",
		FinalizerPrefix:         "example.com",
		ManagedFieldsAnnotation: testAnnotation,
		Fields: map[string]HostSelector{
			"spec.owner": ByLabel("example.com/owner"),
			"spec.size":  ByField("spec.size"),
		},
		FieldManager:  "test",
		SettleTimeout: 10 * time.Second,
		Ours: func(sent, found *widgetRecord) bool {
			return sent.Annotations["example.com/attempt"] == found.Annotations["example.com/attempt"]
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return store
}
