// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/sharding"
	"k8s.io/apiserver/pkg/storage"
)

func predicate(t *testing.T, label, field string) storage.SelectionPredicate {
	t.Helper()
	l, err := labels.Parse(label)
	if err != nil {
		t.Fatal(err)
	}
	return storage.SelectionPredicate{Label: l, Field: fields.ParseSelectorOrDie(field)}
}

func TestQuery(t *testing.T) {
	s := newWidgetStore(t, http.NotFoundHandler())
	for name, test := range map[string]struct {
		label, field         string
		wantLabel, wantField string
		wantNames            []string
	}{
		"everything":           {},
		"labels as they are":   {label: "a=b,c notin (d,e),!f,g", wantLabel: "a=b,c notin (d,e),!f,g"},
		"namespace":            {field: "metadata.namespace=alpha", wantField: "metadata.namespace=alpha"},
		"by label":             {field: "spec.owner=me", wantLabel: "example.com/owner=me"},
		"by label, not":        {field: "spec.owner!=me", wantLabel: "example.com/owner!=me"},
		"by label, empty":      {field: "spec.owner=", wantLabel: "!example.com/owner"},
		"by label, not empty":  {field: "spec.owner!=", wantLabel: "example.com/owner"},
		"no label is that":     {field: "spec.owner=é", wantField: "metadata.name=-,metadata.name!=-"},
		"no label is that, so": {field: "spec.owner!=é"},
		"by field":             {field: "spec.size=1", wantField: "spec.size=1"},
		"by field, not":        {field: "spec.size!=1", wantField: "spec.size!=1"},
		"with labels":          {label: "a=b", field: "spec.owner=me,spec.size=1", wantLabel: "a=b,example.com/owner=me", wantField: "spec.size=1"},
		"name":                 {field: "metadata.name=w", wantNames: []string{"w"}},
		"name, not":            {field: "metadata.name!=w", wantLabel: "example.com/name!=w"},
		"name no label holds":  {field: "metadata.name!=-w-"},
		"name, both ways":      {field: "metadata.name=w,metadata.name!=w", wantLabel: "example.com/name!=w", wantNames: []string{"w"}},
	} {
		t.Run(name, func(t *testing.T) {
			q, err := s.query(predicate(t, test.label, test.field))
			if err != nil {
				t.Fatal(err)
			}
			var options metav1.ListOptions
			q.apply(&options)
			if options.LabelSelector != test.wantLabel {
				t.Errorf("labels: got %q, want %q", options.LabelSelector, test.wantLabel)
			}
			if options.FieldSelector != test.wantField {
				t.Errorf("fields: got %q, want %q", options.FieldSelector, test.wantField)
			}
			if len(q.names) != len(test.wantNames) || len(q.names) > 0 && q.names[0] != test.wantNames[0] {
				t.Errorf("names: got %v, want %v", q.names, test.wantNames)
			}
		})
	}
}

func TestQueryAdmits(t *testing.T) {
	s := newWidgetStore(t, http.NotFoundHandler())
	q, err := s.query(predicate(t, "", "metadata.name!=a"))
	if err != nil {
		t.Fatal(err)
	}
	if q.admits("a") || !q.admits("b") {
		t.Error("an unlabelled object of an unwanted name is not told from others")
	}
	q = &query{only: []string{"a"}}
	if !q.admits("a") || q.admits("b") {
		t.Error("a name that is wanted is not told from others")
	}
}

func TestQueryRefuses(t *testing.T) {
	s := newWidgetStore(t, http.NotFoundHandler())
	shard := storage.Everything
	var err error
	if shard.ShardSelector, err = sharding.Parse("shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')"); err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]storage.SelectionPredicate{
		"unknown field":     predicate(t, "", "spec.colour=red"),
		"nothing, by label": {Label: labels.Nothing(), Field: fields.Everything()},
		"a shard":           shard,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := s.query(p); !apierrors.IsBadRequest(err) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestNarrowedByName(t *testing.T) {
	s := newWidgetStore(t, http.NotFoundHandler())
	base := &query{labels: labels.Everything(), names: []string{"w"}}
	base.addField("spec.size", "1", true)

	var options metav1.ListOptions
	labelled, err := s.labelled(base)
	if err != nil {
		t.Fatal(err)
	}
	labelled.apply(&options)
	if options.LabelSelector != "example.com/name=w" || options.FieldSelector != "spec.size=1" {
		t.Errorf("labelled: got %q, %q", options.LabelSelector, options.FieldSelector)
	}
	unlabelled, err := s.unlabelled(base)
	if err != nil {
		t.Fatal(err)
	}
	unlabelled.apply(&options)
	if options.LabelSelector != "!example.com/name" || options.FieldSelector != "spec.size=1,metadata.name=w" {
		t.Errorf("unlabelled: got %q, %q", options.LabelSelector, options.FieldSelector)
	}
	for name, want := range map[string]bool{"w": true, "foreign": false, "-": false} {
		if got := s.byLabel([]string{name}); got != want {
			t.Errorf("%q by label: got %v", name, got)
		}
	}
}
