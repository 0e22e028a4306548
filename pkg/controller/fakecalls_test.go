// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/unikorn-cloud/instance-apiserver/pkg/identity"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
)

// The calls of fakePlatform, in the order of checks of the services.

func (p *fakePlatform) NetworkServers(ctx context.Context, _ principal.Credential, selector region.NetworkSelector) ([]region.Server, error) {
	var list []region.Server
	err := p.run(ctx, "NetworkServers", func() error {
		for _, server := range p.servers {
			seen := p.read(server)
			if seen != nil && !p.hidden && selector.Project == seen.Metadata.ProjectID && selector.Network == seen.Status.NetworkID {
				list = append(list, *seen)
			}
		}
		return nil
	})
	return list, err
}

func (p *fakePlatform) Server(ctx context.Context, _ principal.Credential, id ids.ServerID) (*region.Server, error) {
	var found *region.Server
	err := p.run(ctx, "Server", func() error {
		for _, server := range p.servers {
			if seen := p.read(server); seen != nil && server.id == id {
				found = seen
				return nil
			}
		}
		return errNotFound
	})
	return found, err
}

func (p *fakePlatform) CreateServer(ctx context.Context, _ principal.Credential, body region.ServerCreate) (*region.Server, error) {
	var made *region.Server
	err := p.run(ctx, "CreateServer", func() error {
		if strings.HasPrefix(string(body.Spec.UserData), "bad") {
			return errUnprocessable
		}
		if !p.complete(body.Spec) {
			return p.faults.lost
		}
		id, err := ids.InstanceObjectName(body.Spec.NetworkID, body.Metadata.Name)
		if err != nil {
			return err
		}
		if p.find(ids.ServerID(id)) != nil {
			return errConflict
		}
		server := p.add(ids.ServerID(id), body.Metadata, body.Spec)
		p.checkCharge(server.tag(), body.Spec)
		for _, other := range p.standing() {
			if other != server && other.tag() == server.tag() {
				p.t.Errorf("instance %s has a second server", server.tag())
			}
		}
		made = server.seen(time.Now())
		return nil
	})
	return made, err
}

// complete says whether a server can be made of a spec.
func (p *fakePlatform) complete(spec region.ServerCreateSpec) bool {
	if !slices.Contains(p.images, spec.ImageID) || p.missing[string(spec.SSHCertificateAuthorityID)] {
		return false
	}
	return spec.Networking == nil || !slices.ContainsFunc(spec.Networking.SecurityGroups,
		func(id ids.SecurityGroupID) bool { return p.missing[string(id)] })
}

func (p *fakePlatform) UpdateServer(ctx context.Context, _ principal.Credential, id ids.ServerID, body region.ServerUpdate) (*region.Server, error) {
	var updated *region.Server
	err := p.run(ctx, "UpdateServer", func() error {
		server := p.find(id)
		if server == nil {
			return errNotFound
		}
		if !server.deleted.IsZero() {
			return errBadRequest
		}
		last := server.versions[len(server.versions)-1]
		if last.create.FlavorID != body.Spec.FlavorID || strings.HasPrefix(string(body.Spec.UserData), "bad") {
			return errUnprocessable
		}
		if !slices.Contains(p.images, body.Spec.ImageID) {
			return errNotFound
		}
		last.since, last.metadata = time.Now(), body.Metadata
		last.create.ImageID, last.create.Networking, last.create.UserData = body.Spec.ImageID, body.Spec.Networking, body.Spec.UserData
		server.versions = append(server.versions, last)
		p.checkCharge(server.tag(), last.create)
		updated = server.seen(time.Now())
		return nil
	})
	return updated, err
}

func (p *fakePlatform) DeleteServer(ctx context.Context, _ principal.Credential, id ids.ServerID) error {
	return p.run(ctx, "DeleteServer", func() error {
		server := p.find(id)
		if server == nil {
			return errNotFound
		}
		if server.deleted.IsZero() {
			server.deleted = time.Now()
		}
		return nil
	})
}

func (p *fakePlatform) Network(ctx context.Context, _ principal.Credential, id ids.NetworkID) (*region.Network, error) {
	var found region.Network
	err := p.run(ctx, "Network", func() error {
		network, ok := p.networks[id]
		if !ok {
			return errNotFound
		}
		found = network
		return nil
	})
	return &found, err
}

func (p *fakePlatform) Flavors(ctx context.Context, _ principal.Credential, _ ids.OrganizationID, _ ids.RegionID) ([]region.Flavor, error) {
	var list []region.Flavor
	err := p.run(ctx, "Flavors", func() error {
		list = append(list, p.flavors...)
		return nil
	})
	return list, err
}

func (p *fakePlatform) Images(ctx context.Context, _ principal.Credential, _ ids.OrganizationID, _ ids.RegionID) ([]region.Image, error) {
	var list []region.Image
	err := p.run(ctx, "Images", func() error {
		for _, id := range p.images {
			image := region.Image{}
			image.Metadata.ID = string(id)
			list = append(list, image)
		}
		return nil
	})
	return list, err
}

func (p *fakePlatform) SecurityGroup(ctx context.Context, _ principal.Credential, id ids.SecurityGroupID) (*region.SecurityGroup, error) {
	return &region.SecurityGroup{}, p.run(ctx, "SecurityGroup", func() error { return p.present(string(id)) })
}

func (p *fakePlatform) SSHCertificateAuthority(ctx context.Context, _ principal.Credential, id ids.SSHCertificateAuthorityID) (*region.SSHCertificateAuthority, error) {
	return &region.SSHCertificateAuthority{}, p.run(ctx, "SSHCertificateAuthority", func() error { return p.present(string(id)) })
}

func (p *fakePlatform) present(id string) error {
	if p.missing[id] {
		return errNotFound
	}
	return nil
}

func (p *fakePlatform) CreateAllocation(ctx context.Context, _ principal.Credential, _ ids.OrganizationID, _ ids.ProjectID, body identity.AllocationWrite) (*identity.Allocation, error) {
	made := &identity.Allocation{Spec: body.Spec}
	err := p.run(ctx, "CreateAllocation", func() error {
		if err := p.exceeded("", body.Spec); err != nil {
			return err
		}
		made.Metadata.ID = string(p.allocate(body.Spec))
		return nil
	})
	return made, err
}

func (p *fakePlatform) Allocation(ctx context.Context, _ principal.Credential, _ ids.OrganizationID, _ ids.ProjectID, id ids.AllocationID) (*identity.Allocation, error) {
	found := &identity.Allocation{}
	err := p.run(ctx, "Allocation", func() error {
		spec, ok := p.allocations[id]
		switch {
		case p.projectGone, p.identityBroken:
			return errServer
		case !ok:
			return errNotFound
		}
		found.Metadata.ID, found.Spec = string(id), spec
		return nil
	})
	return found, err
}

func (p *fakePlatform) UpdateAllocation(ctx context.Context, _ principal.Credential, _ ids.OrganizationID, _ ids.ProjectID, id ids.AllocationID, body identity.AllocationWrite) (*identity.Allocation, error) {
	updated := &identity.Allocation{Spec: body.Spec}
	err := p.run(ctx, "UpdateAllocation", func() error {
		if _, ok := p.allocations[id]; !ok {
			return errNotFound
		}
		if err := p.exceeded(id, body.Spec); err != nil {
			return err
		}
		p.allocations[id] = body.Spec
		p.checkStanding(ids.InstanceID(body.Spec.ID))
		return nil
	})
	return updated, err
}

// checkStanding fails the test if the servers of the instance are not paid for
// (any more).
func (p *fakePlatform) checkStanding(instance ids.InstanceID) {
	for _, server := range p.standing() {
		if server.tag() == instance {
			p.checkCharge(instance, server.versions[len(server.versions)-1].create)
		}
	}
}

func (p *fakePlatform) DeleteAllocation(ctx context.Context, _ principal.Credential, _ ids.OrganizationID, _ ids.ProjectID, id ids.AllocationID) error {
	return p.run(ctx, "DeleteAllocation", func() error {
		spec, ok := p.allocations[id]
		switch {
		case p.projectGone, p.identityBroken:
			return errServer
		case !ok:
			return errNotFound
		}
		delete(p.allocations, id)
		p.checkStanding(ids.InstanceID(spec.ID))
		return nil
	})
}

func (p *fakePlatform) Project(ctx context.Context, _ principal.Credential, _ ids.OrganizationID, _ ids.ProjectID) (*identity.Project, error) {
	err := p.run(ctx, "Project", func() error {
		if p.projectGone {
			return errNotFound
		}
		return nil
	})
	return &identity.Project{}, err
}

func (p *fakePlatform) gpus(flavor ids.FlavorID) int {
	return physicalGPUs(p.flavors)[string(flavor)]
}
