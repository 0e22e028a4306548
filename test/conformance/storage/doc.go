// SPDX-License-Identifier: Apache-2.0

// Package storage runs the API machinery's own storage suite, the one etcd's
// storage has to pass, against package crbacked on a real control plane.
//
// README.md says which functions of the suite run, and why the others cannot.
package storage
