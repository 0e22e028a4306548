// SPDX-License-Identifier: Apache-2.0

package world

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/unikorn-cloud/instance-apiserver/pkg/identity"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/acl"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// Ids of the tenants and places that are there from the start.
const (
	Acme     ids.OrganizationID = "0a000000-0000-4000-8000-0000000000a0"
	Alpha    ids.ProjectID      = "0a000000-0000-4000-8000-0000000000a1"
	Beta     ids.ProjectID      = "0a000000-0000-4000-8000-0000000000a2"
	Umbrella ids.OrganizationID = "0b000000-0000-4000-8000-0000000000b0"
	Gamma    ids.ProjectID      = "0b000000-0000-4000-8000-0000000000b1"
	North    ids.RegionID       = "0c000000-0000-4000-8000-0000000000c0"
)

// founded is when everything that is there from the start was made.
var founded = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func (w *World) addFixture() error {
	w.addOrganization(Acme, "acme", map[string]int{"servers": 10, "gpus": 2, "floatingips": 3})
	w.addOrganization(Umbrella, "umbrella", map[string]int{})
	w.addProject(Acme, Alpha, "alpha")
	w.addProject(Acme, Beta, "beta")
	w.addProject(Umbrella, Gamma, "gamma")
	w.addRegion(North, "north")
	w.addFlavors()
	w.addImages()
	w.addPeople()
	for _, place := range fixturePlaces {
		if err := w.addPlace(place); err != nil {
			return err
		}
	}
	for _, authority := range fixtureAuthorities {
		if err := w.addFixtureAuthority(authority); err != nil {
			return err
		}
	}
	return nil
}

func resourceMetadata(id, name string) unikorn.ResourceReadMetadata {
	return unikorn.ResourceReadMetadata{
		ID: id, Name: name, CreationTime: founded, CreatedBy: "fixture",
		ProvisioningStatus: unikorn.ProvisioningStatusProvisioned, HealthStatus: unikorn.HealthStatusHealthy,
	}
}

func projectMetadata(id, name string, organization ids.OrganizationID, project ids.ProjectID) unikorn.ProjectScopedReadMetadata {
	return unikorn.ProjectScopedReadMetadata{
		ID: id, Name: name, CreationTime: founded, CreatedBy: "fixture",
		OrganizationID: organization, ProjectID: project,
		ProvisioningStatus: unikorn.ProvisioningStatusProvisioned, HealthStatus: unikorn.HealthStatusHealthy,
	}
}

func (w *World) addOrganization(id ids.OrganizationID, name string, limits map[string]int) {
	w.organizations[id] = &organization{
		resource: identity.Organization{
			Metadata: resourceMetadata(string(id), name),
			Spec:     identity.OrganizationSpec{OrganizationType: "adhoc"},
		},
		limits: limits,
	}
}

func (w *World) addProject(organization ids.OrganizationID, id ids.ProjectID, name string) {
	w.projects[id] = identity.Project{Metadata: unikorn.OrganizationScopedReadMetadata{
		ID: string(id), Name: name, CreationTime: founded, CreatedBy: "fixture", OrganizationID: organization,
		ProvisioningStatus: unikorn.ProvisioningStatusProvisioned, HealthStatus: unikorn.HealthStatusHealthy,
	}}
}

func (w *World) addRegion(id ids.RegionID, name string) {
	w.regions[id] = region.Region{
		Metadata: resourceMetadata(string(id), name),
		Spec: region.RegionSpec{
			Type: region.RegionTypeOpenstack, Features: region.RegionFeatures{PhysicalNetworks: true},
		},
	}
}

func (w *World) addPeople() {
	in := func(organization ids.OrganizationID, project ids.ProjectID, role acl.Role) acl.Membership {
		return acl.Membership{Organization: organization, Project: project, Role: role}
	}
	alpha, beta, gamma := in(Acme, Alpha, acl.RoleEditor), in(Acme, Beta, acl.RoleEditor), in(Umbrella, Gamma, acl.RoleEditor)
	w.people = map[string][]acl.Membership{
		"alpha-editor":       {alpha},
		"alpha-viewer":       {in(Acme, Alpha, acl.RoleViewer)},
		"beta-editor":        {beta},
		"alpha-beta-editor":  {alpha, beta},
		"alpha-gamma-editor": {alpha, gamma},
	}
}

// place is a network with its security group.
type place struct {
	network      ids.NetworkID
	group        ids.SecurityGroupID
	name         string
	organization ids.OrganizationID
	project      ids.ProjectID
	prefix       string
}

var fixturePlaces = []place{
	{"0d000000-0000-4000-8000-0000000000d1", "0e000000-0000-4000-8000-0000000000e1", "alpha-net", Acme, Alpha, "10.1.0.0/16"},
	{"0d000000-0000-4000-8000-0000000000d2", "0e000000-0000-4000-8000-0000000000e2", "alpha-net2", Acme, Alpha, "10.2.0.0/16"},
	{"0d000000-0000-4000-8000-0000000000d3", "0e000000-0000-4000-8000-0000000000e3", "beta-net", Acme, Beta, "10.3.0.0/16"},
	{"0d000000-0000-4000-8000-0000000000d4", "0e000000-0000-4000-8000-0000000000e4", "gamma-net", Umbrella, Gamma, "10.4.0.0/16"},
}

func (w *World) addPlace(p place) error {
	metadata := projectMetadata(string(p.group), p.name+"-ssh", p.organization, p.project)
	// Nobody reports on security groups.
	metadata.ProvisioningStatus, metadata.HealthStatus = unikorn.ProvisioningStatusUnknown, unikorn.HealthStatusUnknown
	w.groups[p.group] = region.SecurityGroup{
		Metadata: metadata,
		Spec: region.SecurityGroupSpec{Rules: []region.SecurityGroupRule{
			{Direction: "ingress", Protocol: "tcp", Port: 22, Prefix: "0.0.0.0/0"},
		}},
		Status: region.SecurityGroupStatus{RegionID: North, NetworkID: p.network},
	}
	return w.addNetwork(founded, Network{Resource: region.Network{
		Metadata: projectMetadata(string(p.network), p.name, p.organization, p.project),
		Spec:     region.NetworkSpec{DNSNameservers: []string{nameserver(p.prefix)}},
		Status:   region.NetworkStatus{RegionID: North, Prefix: p.prefix},
	}})
}

// nameserver is the second host of a prefix that ends in zeros.
func nameserver(prefix string) string {
	network, _, _ := strings.Cut(prefix, "/")
	return strings.TrimSuffix(network, "0") + "2"
}

type fixtureAuthority struct {
	id           ids.SSHCertificateAuthorityID
	name         string
	organization ids.OrganizationID
	project      ids.ProjectID
}

var fixtureAuthorities = []fixtureAuthority{
	{"0f000000-0000-4000-8000-0000000000f1", "alpha-ca", Acme, Alpha},
	{"0f000000-0000-4000-8000-0000000000f2", "beta-ca", Acme, Beta},
	{"0f000000-0000-4000-8000-0000000000f3", "gamma-ca", Umbrella, Gamma},
}

// addFixtureAuthority derives the key from the id, so that it is the same in
// every simulator. Nobody needs the private half.
func (w *World) addFixtureAuthority(a fixtureAuthority) error {
	seed := sha256.Sum256([]byte(a.id))
	key, err := ssh.NewPublicKey(ed25519.NewKeyFromSeed(seed[:]).Public())
	if err != nil {
		return fmt.Errorf("key of %s: %w", a.name, err)
	}
	line := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
	w.authorities.Set(a.id, founded, region.SSHCertificateAuthority{
		Metadata: projectMetadata(string(a.id), a.name, a.organization, a.project),
		Spec:     region.SSHCertificateAuthoritySpec{PublicKey: line + " " + a.name},
	})
	return nil
}
