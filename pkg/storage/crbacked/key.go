// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"fmt"
	"strings"

	"k8s.io/apiserver/pkg/storage"
)

// scope is what a storage key means: all objects, those of a namespace, or
// one.
type scope struct {
	key       string
	namespace string
	name      string
}

// object reads the key of one object: prefix/namespace/name, or prefix/name
// for custom resources that have no namespace.
func (s *Store[O, C]) object(key string) (scope, error) {
	rest, err := s.suffix(key, false)
	if err != nil {
		return scope{}, err
	}
	namespace, name := "", rest
	if i := strings.LastIndexByte(rest, '/'); i >= 0 {
		namespace, name = rest[:i], rest[i+1:]
	}
	if name == "" || strings.Contains(namespace, "/") {
		return scope{}, fmt.Errorf("invalid key: %q", key)
	}
	return scope{key: key, namespace: namespace, name: name}, nil
}

// collection reads the key of many objects: prefix or prefix/namespace.
func (s *Store[O, C]) collection(key string) (scope, error) {
	rest, err := s.suffix(key, true)
	if err != nil {
		return scope{}, err
	}
	namespace := strings.Trim(rest, "/")
	if strings.Contains(namespace, "/") {
		return scope{}, fmt.Errorf("invalid key: %q", key)
	}
	return scope{key: key, namespace: namespace}, nil
}

func (s *Store[O, C]) suffix(key string, recursive bool) (string, error) {
	prefix := "/" + strings.Trim(s.config.ResourcePrefix, "/") + "/"
	if !strings.HasPrefix(key, "/") {
		key = "/" + key
	}
	prepared, err := storage.PrepareKey(prefix, key, recursive)
	if err != nil {
		return "", err
	}
	return strings.TrimPrefix(prepared, prefix), nil
}
