// SPDX-License-Identifier: Apache-2.0

// Package unikorn is what the clients of the region and identity services
// share: a TLS transport that follows changes of its files, one way to make a
// call, and one kind of error with its meaning to Kubernetes clients.
//
// The facts of the wire are in docs/reference/wire.md.
package unikorn
