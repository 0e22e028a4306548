// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"bytes"
	"slices"
	"strings"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// drift is what it takes to make a server match a spec.
type drift string

const (
	// driftNone: the server is as specified.
	driftNone drift = "none"
	// driftUpdate: the server can be changed in place. Another image is a
	// rebuild, which keeps everything but the root disk.
	driftUpdate drift = "update"
	// driftReplace: region cannot change what differs.
	driftReplace drift = "replace"
)

// driftOf compares a server with the spec it was made from. Name, tags and
// description are not compared: docs/reference/wire.md, "Servers".
func driftOf(spec *v1alpha1.ComputeInstanceSpec, server *region.Server) drift {
	desired, actual := serverSpec(spec), server.Spec.Normalize()
	switch {
	case !same(desired.FlavorID, actual.FlavorID),
		!same(spec.SSHCertificateAuthorityID, server.Status.SSHCertificateAuthorityID):
		return driftReplace
	case !same(desired.ImageID, actual.ImageID),
		!bytes.Equal(desired.UserData, actual.UserData),
		!sameNetworking(desired.Networking, actual.Networking):
		return driftUpdate
	}
	return driftNone
}

// same compares ids. An object of another writer may have them in upper case,
// which region reads back in lower case; taking that for a difference would
// replace the server for ever.
func same[T ~string](a, b T) bool {
	return strings.EqualFold(string(a), string(b))
}

func sameNetworking(a, b *region.ServerNetworking) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.PublicIP == b.PublicIP &&
		sameSet(a.SecurityGroups, b.SecurityGroups) &&
		sameSet(a.AllowedSourceAddresses, b.AllowedSourceAddresses)
}

// sameSet ignores order and repetition, which mean nothing to a server.
func sameSet[T ~string](a, b []T) bool {
	return slices.Equal(normalSet(a), normalSet(b))
}

func normalSet[T ~string](values []T) []string {
	normal := make([]string, 0, len(values))
	for _, value := range values {
		normal = append(normal, strings.ToLower(string(value)))
	}
	slices.Sort(normal)
	return slices.Compact(normal)
}

// serverSpec is the part of spec that can be changed of a server, in normal form.
func serverSpec(spec *v1alpha1.ComputeInstanceSpec) region.ServerSpec {
	result := region.ServerSpec{
		FlavorID: spec.FlavorID,
		ImageID:  spec.ImageID,
		UserData: spec.UserData,
	}
	if spec.Networking != nil {
		result.Networking = &region.ServerNetworking{
			PublicIP:               spec.Networking.PublicIP,
			SecurityGroups:         spec.Networking.SecurityGroupIDs,
			AllowedSourceAddresses: plain(spec.Networking.AllowedSourceAddresses),
		}
	}
	return result.Normalize()
}

func plain(prefixes []v1alpha1.IPv4Prefix) []string {
	var result []string
	for _, prefix := range prefixes {
		result = append(result, string(prefix))
	}
	return result
}

// createBody asks for the server of s. The user's tags and description stay on
// the instance.
func createBody(s *subject) region.ServerCreate {
	spec := serverSpec(&s.object.Spec)
	return region.ServerCreate{
		Metadata: serverMetadata(s),
		Spec: region.ServerCreateSpec{
			NetworkID:                 s.network.Network,
			FlavorID:                  spec.FlavorID,
			ImageID:                   spec.ImageID,
			Networking:                spec.Networking,
			SSHCertificateAuthorityID: s.object.Spec.SSHCertificateAuthorityID,
			UserData:                  spec.UserData,
		},
	}
}

// updateBody replaces what can be changed, and must repeat the tag.
func updateBody(s *subject) region.ServerUpdate {
	return region.ServerUpdate{Metadata: serverMetadata(s), Spec: serverSpec(&s.object.Spec)}
}

func serverMetadata(s *subject) unikorn.WriteMetadata {
	return unikorn.WriteMetadata{
		Name:        s.name,
		Description: "Server for instance " + string(s.id),
		Tags:        []unikorn.Tag{{Name: region.InstanceTag, Value: string(s.id)}},
	}
}

// belongsTo says whether the server carries the tag of the instance.
func belongsTo(server *region.Server, instance ids.InstanceID) bool {
	owner, ok := server.InstanceID()
	return ok && owner == instance
}
