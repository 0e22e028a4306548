// SPDX-License-Identifier: Apache-2.0

package regionserver

import (
	"net/http"
	"net/netip"

	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/wire"
)

// canonicalCreate puts the ids of a create into the form region stores. One
// that is none is a 400.
func canonicalCreate(spec region.ServerCreateSpec) (region.ServerCreateSpec, error) {
	var err error
	if spec.NetworkID, err = wire.CanonicalID("networkId", spec.NetworkID); err != nil {
		return spec, err
	}
	if spec.SSHCertificateAuthorityID != "" {
		spec.SSHCertificateAuthorityID, err = wire.CanonicalID("sshCertificateAuthorityId", spec.SSHCertificateAuthorityID)
		if err != nil {
			return spec, err
		}
	}
	common, err := canonicalSpec(region.ServerSpec{FlavorID: spec.FlavorID, ImageID: spec.ImageID, Networking: spec.Networking})
	spec.FlavorID, spec.ImageID, spec.Networking = common.FlavorID, common.ImageID, common.Networking
	return spec, err
}

// canonicalSpec puts the ids that create and update have in common into the
// form region stores.
func canonicalSpec(spec region.ServerSpec) (region.ServerSpec, error) {
	var err error
	if spec.FlavorID, err = wire.CanonicalID("flavorId", spec.FlavorID); err != nil {
		return spec, err
	}
	if spec.ImageID, err = wire.CanonicalID("imageId", spec.ImageID); err != nil {
		return spec, err
	}
	if spec.Networking != nil {
		networking := *spec.Networking
		networking.SecurityGroups, err = wire.CanonicalIDs("securityGroups", networking.SecurityGroups)
		spec.Networking = &networking
	}
	return spec, err
}

// normalizeNetworking is networking as it is read back: without what is empty
// or false, and with the host bits of prefixes cleared. An IPv6 prefix is more
// than region can handle.
func normalizeNetworking(networking *region.ServerNetworking) (*region.ServerNetworking, error) {
	if networking == nil {
		return nil, nil
	}
	normal := region.ServerNetworking{PublicIP: networking.PublicIP}
	for _, text := range networking.AllowedSourceAddresses {
		prefix, err := netip.ParsePrefix(text)
		switch {
		case err != nil:
			return nil, wire.Error(http.StatusUnprocessableEntity, "allowedSourceAddresses has an entry that is not an address prefix")
		case !prefix.Addr().Is4():
			return nil, wire.Error(http.StatusInternalServerError, "")
		}
		normal.AllowedSourceAddresses = append(normal.AllowedSourceAddresses, prefix.Masked().String())
	}
	if len(networking.SecurityGroups) > 0 {
		normal.SecurityGroups = networking.SecurityGroups
	}
	if !normal.PublicIP && normal.SecurityGroups == nil && normal.AllowedSourceAddresses == nil {
		return nil, nil
	}
	return &normal, nil
}
