// SPDX-License-Identifier: Apache-2.0

// Package storage runs the API machinery's own storage suite, the one etcd's
// storage has to pass, against package crbacked on a real control plane.
//
// suite_test.go has the functions of the suite that run, leftout_test.go the
// others, each with its reason; a function that is in neither is a failure. The
// other files test what etcd has no counterpart of: names apart from object
// names, other writers, finalizers of the garbage collector, corrupt objects,
// answers that get lost.
package storage
