// SPDX-License-Identifier: Apache-2.0

package region

import (
	"fmt"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

var (
	_ unikorn.Completer = &Network{}
	_ unikorn.Completer = &SecurityGroup{}
	_ unikorn.Completer = &SSHCertificateAuthority{}
	_ unikorn.Completer = &Server{}
	_ unikorn.Completer = &Image{}
	_ unikorn.Completer = &SSHKey{}
	_ unikorn.Completer = &ConsoleSession{}

	_ fmt.Formatter = SSHKey{}
	_ fmt.Formatter = ConsoleSession{}
)

// ID is the flavor's identifier.
func (f *Flavor) ID() ids.FlavorID { return ids.FlavorID(f.Metadata.ID) }

// ID is the image's identifier.
func (i *Image) ID() ids.ImageID { return ids.ImageID(i.Metadata.ID) }

// ID is the region's identifier.
func (r *Region) ID() ids.RegionID { return ids.RegionID(r.Metadata.ID) }

// ID is the network's identifier.
func (n *Network) ID() ids.NetworkID { return ids.NetworkID(n.Metadata.ID) }

// ID is the security group's identifier.
func (g *SecurityGroup) ID() ids.SecurityGroupID { return ids.SecurityGroupID(g.Metadata.ID) }

// ID is the authority's identifier.
func (a *SSHCertificateAuthority) ID() ids.SSHCertificateAuthorityID {
	return ids.SSHCertificateAuthorityID(a.Metadata.ID)
}

// ID is the server's identifier.
func (s *Server) ID() ids.ServerID { return ids.ServerID(s.Metadata.ID) }

// InstanceID is the instance the server is tagged with, if it is.
func (s *Server) InstanceID() (ids.InstanceID, bool) {
	for _, tag := range s.Metadata.Tags {
		if tag.Name == InstanceTag {
			return ids.InstanceID(tag.Value), true
		}
	}
	return "", false
}

// Deleting says whether deletion of the server was asked for.
func (s *Server) Deleting() bool {
	return s.Metadata.DeletionTime != nil || s.Metadata.ProvisioningStatus == unikorn.ProvisioningStatusDeprovisioning
}

// Complete says whether the network names itself, its owner and its region.
func (n *Network) Complete() bool {
	return n.Metadata.ID != "" && n.Metadata.OrganizationID != "" && n.Metadata.ProjectID != "" && n.Status.RegionID != ""
}

// Complete says whether the group names itself and its network.
func (g *SecurityGroup) Complete() bool {
	return g.Metadata.ID != "" && g.Status.NetworkID != ""
}

// Complete says whether the authority names itself and its owner.
func (a *SSHCertificateAuthority) Complete() bool {
	return a.Metadata.ID != "" && a.Metadata.OrganizationID != "" && a.Metadata.ProjectID != ""
}

// Complete says whether the server names itself.
func (s *Server) Complete() bool { return s.Metadata.ID != "" }

// Complete says whether the image names itself.
func (i *Image) Complete() bool { return i.Metadata.ID != "" }

// Complete says whether there is a key.
func (k *SSHKey) Complete() bool { return k.PrivateKey != "" }

// Complete says whether there is a URL.
func (c *ConsoleSession) Complete() bool { return c.URL != "" }

// Format keeps the key out of anything that is printed or logged.
func (SSHKey) Format(state fmt.State, _ rune) { _, _ = fmt.Fprint(state, "[private key]") }

// Format keeps the URL out of anything that is printed or logged.
func (ConsoleSession) Format(state fmt.State, _ rune) { _, _ = fmt.Fprint(state, "[console session]") }
