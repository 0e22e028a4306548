// SPDX-License-Identifier: Apache-2.0

// +k8s:deepcopy-gen=package
// +kubebuilder:object:generate=false
// +groupName=compute.unikorn-cloud.org

// Package v1alpha1 is the ComputeInstance custom resource, which stores
// instances in the host cluster. The platform's other services read and write
// it too: its fields and keys are a contract, see docs/reference/wire.md.
package v1alpha1
