// SPDX-License-Identifier: Apache-2.0

// +k8s:deepcopy-gen=package
// +groupName=compute.unikorn-cloud.org

// Package compute is the internal, version-free form of the group
// compute.unikorn-cloud.org as the API server serves it: the hub that every
// version converts to and that the registry and the storage work on.
package compute
