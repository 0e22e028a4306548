// SPDX-License-Identifier: Apache-2.0

// Package ids gives every kind of platform identifier a type of its own, so
// that the compiler keeps a network from standing where a server should.
//
// An id is a lower-case UUID in text form. Its format is checked once, where a
// request enters the API server; code behind that point does not check again.
package ids

import "github.com/google/uuid"

// OrganizationID names an organization of the identity service.
type OrganizationID string

// ProjectID names a project of an organization in the identity service.
type ProjectID string

// RegionID names a region of the region service.
type RegionID string

// NetworkID names a network of the region service. A network belongs to one
// organization, one project and one region for its whole life.
type NetworkID string

// FlavorID names a flavor, the size of a machine, of a region.
type FlavorID string

// ImageID names a bootable image of a region.
type ImageID string

// SecurityGroupID names a security group. It belongs to one network.
type SecurityGroupID string

// SSHCertificateAuthorityID names an SSH certificate authority. It belongs to
// one organization and project.
type SSHCertificateAuthorityID string

// InstanceID names an instance across the platform. It is the object name of
// the ComputeInstance that stores the instance.
type InstanceID string

// ServerID names a server of the region service, the machine behind an
// instance.
type ServerID string

// AllocationID names a quota allocation of the identity service.
type AllocationID string

// IsUUID says whether text is a UUID in the one form that ids have: lower case,
// with dashes.
func IsUUID(text string) bool {
	parsed, err := uuid.Parse(text)
	return err == nil && parsed.String() == text
}
