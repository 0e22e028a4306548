// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Reasons of the condition Available. The first group is the platform's
// (docs/reference/wire.md, "Conditions"), the second is the controller's own.
// Available is True with ReasonProvisioned only, and its observedGeneration is
// then the generation whose spec the server has; with False it is the
// generation the reason is about.
const (
	// ReasonProvisioning: the server is being made, changed or replaced.
	ReasonProvisioning = "Provisioning"
	// ReasonProvisioned: the provider accepted the spec. Whether the machine
	// runs is the matter of condition Active.
	ReasonProvisioned = "Provisioned"
	// ReasonErrored: the region refuses the spec or failed for good. Parked
	// until the spec changes.
	ReasonErrored = "Errored"
	// ReasonDeprovisioning: the server and then the charge are being removed.
	ReasonDeprovisioning = "Deprovisioning"
	// ReasonDependencyNotReady: something the server needs is not there yet, a
	// service that does not answer among it. Retried.
	ReasonDependencyNotReady = "DependencyNotReady"
	// ReasonDependencyFailed: something the server needs failed.
	ReasonDependencyFailed = "DependencyFailed"
	// ReasonDependencyNotFound: something that the spec refers to does not
	// exist. Looked for again every now and then.
	ReasonDependencyNotFound = "DependencyNotFound"

	// ReasonPaused: spec.pause holds a change of the server back.
	ReasonPaused = "Paused"
	// ReasonQuotaExceeded: the organization has no quota left for the spec.
	// Asked for again every now and then; a server that exists stays as it is.
	ReasonQuotaExceeded = "QuotaExceeded"
	// ReasonNameTaken: something else has the name. Parked if it is a foreign
	// server, looked at again if it is another object of the cluster.
	ReasonNameTaken = "NameTaken"
	// ReasonOwnerMismatch: the network is not of the organization, project and
	// region the object is labelled with. Parked.
	ReasonOwnerMismatch = "OwnerMismatch"
)

// Reasons of the condition Healthy.
const (
	ReasonHealthy  = "Healthy"
	ReasonDegraded = "Degraded"
	ReasonUnknown  = "Unknown"
)
