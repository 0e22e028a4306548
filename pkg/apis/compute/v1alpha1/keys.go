// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// The labels of a ComputeInstance: docs/reference/wire.md, "Labels and
// annotations".
const (
	// LabelName is the name on the network.
	LabelName = "unikorn-cloud.org/name"
	// LabelOrganization is the owning organization.
	LabelOrganization = "unikorn-cloud.org/organization"
	// LabelProject is the owning project.
	LabelProject = "unikorn-cloud.org/project"
	// LabelPrincipalOrganization is the organization that is charged.
	LabelPrincipalOrganization = "principal.unikorn-cloud.org/organization"
	// LabelPrincipalProject is the project that is charged.
	LabelPrincipalProject = "principal.unikorn-cloud.org/project"
	// LabelRegion is the region, copied from the network.
	LabelRegion = "regions.unikorn-cloud.org/region-id"
	// LabelNetwork is the network.
	LabelNetwork = "regions.unikorn-cloud.org/network-id"
	// LabelInstanceName is metadata.name of the Instance. Objects of other
	// writers lack it and appear under their object name.
	LabelInstanceName = "compute.unikorn-cloud.org/instance-name"
	// LabelKind tells what a namespace is for.
	LabelKind = "unikorn-cloud.org/kind"
)

// KindProject is the value of LabelKind on the namespace of a project.
const KindProject = "project"

// The annotations of a ComputeInstance.
const (
	// AnnotationDescription is the user's.
	AnnotationDescription = "unikorn-cloud.org/description"
	// AnnotationCreator is the subject that created the object.
	AnnotationCreator = "unikorn-cloud.org/creator"
	// AnnotationPrincipalCreator is the principal's actor at creation.
	AnnotationPrincipalCreator = "principal.unikorn-cloud.org/creator"
	// AnnotationModifier is the subject of the last change.
	AnnotationModifier = "unikorn-cloud.org/modifier"
	// AnnotationPrincipalModifier is the principal's actor of the last change.
	AnnotationPrincipalModifier = "principal.unikorn-cloud.org/modifier"
	// AnnotationModifiedTimestamp is when the last change was, in RFC 3339.
	AnnotationModifiedTimestamp = "unikorn-cloud.org/modifiedTimestamp"
	// AnnotationAllocationID is the quota allocation in identity.
	AnnotationAllocationID = "unikorn-cloud.org/allocation-id"
	// AnnotationPowerRequested is the last change of power that was asked for,
	// a PowerRequest.
	AnnotationPowerRequested = "compute.unikorn-cloud.org/power-requested"
	// AnnotationManagedFields keeps who manages which field of the Instance.
	AnnotationManagedFields = "compute.unikorn-cloud.org/managed-fields"
)

const (
	// Finalizer is held until the server and the allocation are gone.
	Finalizer = "unikorn"
	// FinalizerForegroundDeletion stands for foregroundDeletion on the stored
	// object, so that the host's garbage collector leaves it to the Instance.
	FinalizerForegroundDeletion = GroupName + "/foreground-deletion"
	// FinalizerOrphan stands for orphan on the stored object.
	FinalizerOrphan = GroupName + "/orphan"
)

// InstanceUIDSalt tells the uid of an Instance from that of the ComputeInstance
// that stores it: two objects of one uid confuse the garbage collector.
const InstanceUIDSalt = "instances." + GroupName

// TagInstanceID is the tag on a region server that names its instance, the
// only link between the two.
const TagInstanceID = "compute.unikorn-cloud.org/instance-id"

// TagSnapshotInstanceID is the tag on an image that names the instance it was
// made of. It differs from TagInstanceID in one character.
const TagSnapshotInstanceID = "compute.unikorn-cloud.org:instance-id"

// The condition types of a ComputeInstance.
const (
	// ConditionAvailable tells whether the desired state was handed over.
	ConditionAvailable = "Available"
	// ConditionHealthy mirrors the health of the server.
	ConditionHealthy = "Healthy"
	// ConditionActive has the power state as its reason.
	ConditionActive = "Active"
)
