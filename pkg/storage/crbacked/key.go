// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"fmt"
	"strings"

	"k8s.io/apiserver/pkg/storage"
)

// scope is what a storage key means: all objects, those of a namespace, or
// one. Keys are prefix, prefix/namespace and prefix/namespace/name; prefix/name
// is one object of a resource that has no namespaces.
type scope struct {
	key       string
	namespace string
	name      string
}

// object reads the key of one object.
func (s *Store[O, C]) object(key string) (scope, error) {
	at, ok, err := s.parseOne(key)
	if err == nil && !ok {
		err = fmt.Errorf("invalid key: %q", key)
	}
	return at, err
}

// parseOne reads the key of one object. It is not ok if there can be none under
// such a key.
func (s *Store[O, C]) parseOne(key string) (at scope, ok bool, err error) {
	rest, err := s.suffix(key)
	if err != nil {
		return scope{}, false, err
	}
	namespace, name := "", rest
	if i := strings.LastIndexByte(rest, '/'); i >= 0 {
		namespace, name = rest[:i], rest[i+1:]
	}
	return scope{key: key, namespace: namespace, name: name}, name != "" && !strings.Contains(namespace, "/"), nil
}

// parseMany reads the key of all objects or those of a namespace. It is not ok
// if there can be none under such a key.
func (s *Store[O, C]) parseMany(key string) (at scope, ok bool, err error) {
	rest, err := s.suffix(strings.TrimSuffix(key, "/") + "/")
	if err != nil {
		return scope{}, false, err
	}
	namespace, deeper, _ := strings.Cut(strings.TrimSuffix(rest, "/"), "/")
	return scope{key: key, namespace: namespace}, deeper == "", nil
}

func (s *Store[O, C]) suffix(key string) (string, error) {
	prefix := "/" + strings.Trim(s.config.ResourcePrefix, "/") + "/"
	if !strings.HasPrefix(key, "/") {
		key = "/" + key
	}
	prepared, err := storage.PrepareKey(prefix, key, false)
	if err != nil {
		return "", err
	}
	return strings.TrimPrefix(prepared, prefix), nil
}
