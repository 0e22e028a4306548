// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"net/http"
	"testing"
)

type keyTest struct {
	key             string
	namespace, name string
	ok, fails       bool
}

func (test keyTest) expect(t *testing.T, parse func(key string) (scope, bool, error)) {
	t.Helper()
	at, ok, err := parse(test.key)
	if (err != nil) != test.fails {
		t.Errorf("%q: got %v", test.key, err)
		return
	}
	if at.namespace != test.namespace || at.name != test.name || ok != test.ok {
		t.Errorf("%q: got %+v, %v", test.key, at, ok)
	}
}

func TestKeysOfOne(t *testing.T) {
	s := newWidgetStore(t, http.NotFoundHandler())
	for _, test := range []keyTest{
		{key: "/widgets/ns/w", namespace: "ns", name: "w", ok: true},
		{key: "widgets/ns/w", namespace: "ns", name: "w", ok: true},
		{key: "/widgets/w", name: "w", ok: true},
		{key: "/widgets/ns/", namespace: "ns"},
		{key: "/widgets/a/b/c", namespace: "a/b", name: "c"},
		{key: "/widgets", fails: true},
		{key: "/gadgets/ns/w", fails: true},
		{key: "/widgets/../w", fails: true},
		{key: "", fails: true},
	} {
		test.expect(t, s.parseOne)
	}
}

func TestKeysOfMany(t *testing.T) {
	s := newWidgetStore(t, http.NotFoundHandler())
	for _, test := range []keyTest{
		{key: "/widgets", ok: true},
		{key: "/widgets/", ok: true},
		{key: "/widgets/ns", namespace: "ns", ok: true},
		{key: "/widgets/ns/", namespace: "ns", ok: true},
		{key: "/widgets/ns/w", namespace: "ns"},
		{key: "/widgets.apps", fails: true},
		{key: "/widgets/../w", fails: true},
		{key: "/widgets/..", fails: true},
		{key: "", fails: true},
	} {
		test.expect(t, s.parseMany)
	}
}
