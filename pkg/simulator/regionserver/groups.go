// SPDX-License-Identifier: Apache-2.0

package regionserver

import (
	"net/http"

	"golang.org/x/crypto/ssh"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/acl"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/wire"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// ListSecurityGroups answers security groups.
func (s *Server) ListSecurityGroups(w http.ResponseWriter, r *http.Request, params region.ListSecurityGroupsParams) {
	asked := selector{
		organizations: params.OrganizationIDs, projects: params.ProjectIDs,
		regions: params.RegionIDs, networks: params.NetworkIDs, tags: params.Tags,
	}
	list(s, w, r, acl.SecurityGroups, asked, func(keep func(placed) bool) []region.SecurityGroup {
		return s.World.SecurityGroups(func(group region.SecurityGroup) bool {
			return keep(placed{group.Metadata, group.Status.RegionID, group.Status.NetworkID})
		})
	})
}

// GetSecurityGroup answers a security group.
func (s *Server) GetSecurityGroup(w http.ResponseWriter, r *http.Request, id ids.SecurityGroupID) {
	s.answer(w, r, http.StatusOK, func(c call) (any, error) {
		return s.readSecurityGroup(c, id)
	})
}

func (s *Server) readSecurityGroup(c call, id ids.SecurityGroupID) (region.SecurityGroup, error) {
	group, err := s.World.SecurityGroup(id)
	return group, c.mayRead(acl.SecurityGroups, group.Metadata, err)
}

// ListSSHCertificateAuthorities answers SSH certificate authorities.
func (s *Server) ListSSHCertificateAuthorities(w http.ResponseWriter, r *http.Request, params region.ListSSHCertificateAuthoritiesParams) {
	asked := selector{organizations: params.OrganizationIDs, projects: params.ProjectIDs, tags: params.Tags}
	list(s, w, r, acl.SSHCertificateAuthorities, asked, func(keep func(placed) bool) []region.SSHCertificateAuthority {
		return s.World.Lagging().Authorities(func(authority region.SSHCertificateAuthority) bool {
			return keep(placed{metadata: authority.Metadata})
		})
	})
}

// GetSSHCertificateAuthority answers an SSH certificate authority.
func (s *Server) GetSSHCertificateAuthority(w http.ResponseWriter, r *http.Request, id ids.SSHCertificateAuthorityID) {
	s.answer(w, r, http.StatusOK, func(c call) (any, error) {
		authority, err := s.World.Lagging().Authority(id)
		return authority, c.mayRead(acl.SSHCertificateAuthorities, authority.Metadata, err)
	})
}

// CreateSSHCertificateAuthority registers an SSH certificate authority.
func (s *Server) CreateSSHCertificateAuthority(w http.ResponseWriter, r *http.Request) {
	s.answer(w, r, http.StatusCreated, func(c call) (any, error) {
		create, err := wire.Decode[region.SSHCertificateAuthorityCreate](r)
		if err != nil {
			return nil, err
		}
		owner, err := canonicalOwner(create.Spec.OrganizationID, create.Spec.ProjectID)
		if err != nil {
			return nil, err
		}
		if err := s.Authority.MayCreate(c.rights, acl.SSHCertificateAuthorities, owner.OrganizationID, owner.ProjectID); err != nil {
			return nil, err
		}
		if !isAuthorityKey(create.Spec.PublicKey) {
			return nil, wire.Error(http.StatusUnprocessableEntity, "publicKey is not one OpenSSH public key of type ed25519, RSA or ECDSA")
		}
		describe(&owner, create.Metadata)
		return s.World.AddAuthority(region.SSHCertificateAuthority{
			Metadata: owner, Spec: region.SSHCertificateAuthoritySpec{PublicKey: create.Spec.PublicKey},
		}, c.actor()), nil
	})
}

func isAuthorityKey(line string) bool {
	key, _, options, rest, err := ssh.ParseAuthorizedKey([]byte(line))
	if err != nil || len(options) > 0 || len(rest) > 0 {
		return false
	}
	switch key.Type() {
	case ssh.KeyAlgoED25519, ssh.KeyAlgoRSA, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521:
		return true
	}
	return false
}

// DeleteSSHCertificateAuthority removes an SSH certificate authority.
func (s *Server) DeleteSSHCertificateAuthority(w http.ResponseWriter, r *http.Request, id ids.SSHCertificateAuthorityID) {
	s.answer(w, r, http.StatusAccepted, func(c call) (any, error) {
		authority, err := s.World.Now().Authority(id)
		if err := c.mayRead(acl.SSHCertificateAuthorities, authority.Metadata, err); err != nil {
			return nil, err
		}
		if err := c.may(acl.SSHCertificateAuthorities, unikorn.OperationDelete, authority.Metadata); err != nil {
			return nil, err
		}
		return nil, answerOf(s.World.RemoveAuthority(id))
	})
}

// describe puts what a caller says about a resource into its metadata.
func describe(metadata *unikorn.ProjectScopedReadMetadata, write unikorn.WriteMetadata) {
	metadata.Name, metadata.Description, metadata.Tags = write.Name, write.Description, write.Tags
}

// canonicalOwner is the owner a body names. An id that is none is a 500, as on
// the running service.
func canonicalOwner(organization ids.OrganizationID, project ids.ProjectID) (unikorn.ProjectScopedReadMetadata, error) {
	organization, organizationErr := wire.CanonicalID("organizationId", organization)
	project, projectErr := wire.CanonicalID("projectId", project)
	if organizationErr != nil || projectErr != nil {
		return unikorn.ProjectScopedReadMetadata{}, wire.Error(http.StatusInternalServerError, "")
	}
	return unikorn.ProjectScopedReadMetadata{OrganizationID: organization, ProjectID: project}, nil
}
