// SPDX-License-Identifier: Apache-2.0

// Package crbacked is a storage.Interface whose objects are custom resources
// of a host cluster, to stand under a genericregistry.Store.
//
// The façade object (what clients of this server see) and its custom resource
// live in the same namespace. The host's resourceVersion, generation and
// timestamps are the façade's own; selectors, paging and versions are handed
// to the host as they came. What differs between the two is kept in one place
// each: the name (find.go), the uid (uid.go), finalizers the garbage collector
// acts on (finalizers.go), managed fields (managedfields.go) and, through the
// Mapper, spec and status.
//
// Reads decode custom resources into the typed form C. Writes to existing
// resources are JSON merge patches of the difference between two such forms,
// so fields which this build does not know survive at the host.
package crbacked
