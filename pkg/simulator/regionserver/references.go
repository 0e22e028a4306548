// SPDX-License-Identifier: Apache-2.0

package regionserver

import (
	"errors"
	"net/http"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/acl"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/wire"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
	"github.com/unikorn-cloud/instance-apiserver/pkg/userdata"
)

// checkCreate holds what a new server refers to against each other, in region's
// order, and returns the flavor.
func (s *Server) checkCreate(c call, network region.Network, spec region.ServerCreateSpec) (region.Flavor, error) {
	if err := checkUserData(spec.UserData, spec.SSHCertificateAuthorityID); err != nil {
		return region.Flavor{}, err
	}
	if err := s.checkAuthority(c, network, spec.SSHCertificateAuthorityID); err != nil {
		return region.Flavor{}, err
	}
	if err := s.checkSecurityGroups(c, spec.NetworkID, spec.Networking); err != nil {
		return region.Flavor{}, err
	}
	image, err := s.World.Now().Image(spec.ImageID, network.Status.RegionID, network.Metadata.OrganizationID)
	if err != nil {
		return region.Flavor{}, answerOf(err)
	}
	flavor, err := s.World.Flavor(spec.FlavorID)
	switch {
	case image.Status.State != region.ImageReady:
		return flavor, errImageNotReady()
	case err != nil:
		return flavor, wire.Error(http.StatusUnprocessableEntity, "the flavor does not exist")
	}
	if err := compatible(flavor, image); err != nil {
		return flavor, err
	}
	if flavor.Spec.PinnedOnly && spec.InfrastructureRef == "" {
		return flavor, wire.Error(http.StatusUnprocessableEntity, "the flavor needs infrastructureRef")
	}
	return flavor, nil
}

// checkNewImage tells whether a server can be rebuilt from another image. A
// flavor that was retired meanwhile fits every image.
func (s *Server) checkNewImage(server region.Server, spec region.ServerSpec) error {
	image, err := s.World.Now().Image(spec.ImageID, server.Status.RegionID, server.Metadata.OrganizationID)
	if err != nil {
		return answerOf(err)
	}
	if image.Status.State != region.ImageReady {
		return errImageNotReady()
	}
	flavor, err := s.World.Flavor(spec.FlavorID)
	if errors.Is(err, world.ErrNotFound) {
		return nil
	}
	return compatible(flavor, image)
}

func errImageNotReady() error {
	return wire.Error(http.StatusUnprocessableEntity, "the image is not ready")
}

// compatible tells whether a flavor can boot an image. Disk and size are
// compared as numbers though their units differ, as region does.
func compatible(flavor region.Flavor, image region.Image) error {
	switch {
	case flavor.Spec.Architecture != image.Spec.Architecture:
		return wire.Error(http.StatusUnprocessableEntity, "flavor and image differ in architecture")
	case flavor.Spec.Disk < image.Spec.SizeGiB:
		return wire.Error(http.StatusUnprocessableEntity, "the disk of the flavor is too small for the image")
	case image.Spec.Virtualization == region.ImageBaremetal && !flavor.Spec.Baremetal:
		return wire.Error(http.StatusUnprocessableEntity, "the image needs a baremetal flavor")
	case image.Spec.Virtualization == region.ImageVirtualized && flavor.Spec.Baremetal:
		return wire.Error(http.StatusUnprocessableEntity, "the image needs a virtualized flavor")
	}
	return nil
}

// resolveInjection says how logins get into a new server.
func resolveInjection(spec region.ServerCreateSpec) (region.SSHInjection, error) {
	managed := spec.SSHCertificateAuthorityID != ""
	injection := spec.SSHInjection
	switch {
	case injection == "" && managed:
		return region.SSHInjectionCA, nil
	case injection == "":
		injection = region.SSHInjectionIdentityKeypair
	case injection == region.SSHInjectionCA && !managed:
		return "", wire.Error(http.StatusUnprocessableEntity, "sshInjection ca needs an SSH certificate authority")
	case injection != region.SSHInjectionCA && managed:
		return "", wire.Error(http.StatusUnprocessableEntity, "sshInjection %s does not go with an SSH certificate authority", injection)
	}
	if injection == region.SSHInjectionIdentityKeypair && spec.InfrastructureRef != "" {
		return "", wire.Error(http.StatusUnprocessableEntity, "sshInjection identityKeypair does not go with infrastructureRef")
	}
	return injection, nil
}

func checkUserData(raw []byte, authority ids.SSHCertificateAuthorityID) error {
	check := userdata.Check
	if authority != "" {
		check = userdata.CheckManaged
	}
	if err := check(raw); err != nil {
		return wire.Error(http.StatusUnprocessableEntity, "%s", err)
	}
	return nil
}

func (s *Server) checkAuthority(c call, network region.Network, id ids.SSHCertificateAuthorityID) error {
	if id == "" {
		return nil
	}
	authority, err := s.World.Now().Authority(id)
	if err := c.mayRead(acl.SSHCertificateAuthorities, authority.Metadata, err); err != nil {
		return err
	}
	if authority.Metadata.OrganizationID != network.Metadata.OrganizationID ||
		authority.Metadata.ProjectID != network.Metadata.ProjectID {
		return wire.Error(http.StatusUnprocessableEntity, "the SSH certificate authority is of another project than the network")
	}
	return nil
}

func (s *Server) checkSecurityGroups(c call, network ids.NetworkID, networking *region.ServerNetworking) error {
	if networking == nil {
		return nil
	}
	for _, id := range networking.SecurityGroups {
		group, err := s.readSecurityGroup(c, id)
		if err != nil {
			return err
		}
		if group.Status.NetworkID != network {
			return wire.Error(http.StatusUnprocessableEntity, "a security group is of another network")
		}
	}
	return nil
}
