// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"net/http"
	"testing"
)

func TestKeys(t *testing.T) {
	s := newWidgetStore(t, http.NotFoundHandler())
	for _, test := range []struct {
		key             string
		recursive       bool
		namespace, name string
		ok, fails       bool
	}{
		{key: "/widgets/ns/w", namespace: "ns", name: "w", ok: true},
		{key: "widgets/ns/w", namespace: "ns", name: "w", ok: true},
		{key: "/widgets/w", name: "w", ok: true},
		{key: "/widgets/ns/", namespace: "ns"},
		{key: "/widgets/a/b/c", namespace: "a/b", name: "c"},
		{key: "/widgets", recursive: true, ok: true},
		{key: "/widgets/", recursive: true, ok: true},
		{key: "/widgets/ns", recursive: true, namespace: "ns", ok: true},
		{key: "/widgets/ns/", recursive: true, namespace: "ns", ok: true},
		{key: "/widgets/ns/w", recursive: true, namespace: "ns"},
		{key: "/widgets", fails: true},
		{key: "/widgets.apps", recursive: true, fails: true},
		{key: "/gadgets/ns/w", fails: true},
		{key: "/widgets/../w", fails: true},
		{key: "", fails: true},
	} {
		at, ok, err := s.parse(test.key, test.recursive)
		if (err != nil) != test.fails {
			t.Errorf("%q: got %v", test.key, err)
			continue
		}
		if at.namespace != test.namespace || at.name != test.name || ok != test.ok {
			t.Errorf("%q, recursive %v: got %+v, %v", test.key, test.recursive, at, ok)
		}
	}
}
