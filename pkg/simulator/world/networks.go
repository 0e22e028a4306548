// SPDX-License-Identifier: Apache-2.0

package world

import (
	"crypto/ed25519"
	"encoding/pem"
	"fmt"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// Network is a network and the key of its identity at the provider.
type Network struct {
	Resource region.Network
	// PrivateKey is the PEM of the key that servers of the network accept.
	PrivateKey string
	// Allocation is what the network is charged with, empty for one that was
	// there from the start.
	Allocation ids.AllocationID
}

// Networks returns the networks that keep accepts, by id.
func (v View) Networks(keep func(Network) bool) []Network {
	v.world.mu.Lock()
	defer v.world.mu.Unlock()
	return v.world.networks.Select(v.at, keep)
}

// Network returns a network.
func (v View) Network(id ids.NetworkID) (Network, error) {
	v.world.mu.Lock()
	defer v.world.mu.Unlock()
	return found(v.world.networks.Get(id, v.at))
}

// AddNetwork makes a network, of which the status is what was asked for.
func (w *World) AddNetwork(network Network, actor string) (region.Network, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.Now()
	network.Resource.Metadata.ID = newID()
	network.Resource.Metadata.CreationTime = timestamp(now)
	network.Resource.Metadata.CreatedBy = actor
	network.Resource.Metadata.ProvisioningStatus = unikorn.ProvisioningStatusProvisioned
	network.Resource.Metadata.HealthStatus = unikorn.HealthStatusHealthy
	return network.Resource, w.addNetwork(now, network)
}

func (w *World) addNetwork(at time.Time, network Network) error {
	addresses, err := newPool(network.Resource.Status.Prefix)
	if err != nil {
		return err
	}
	if network.PrivateKey, err = newPrivateKey(); err != nil {
		return err
	}
	id := ids.NetworkID(network.Resource.Metadata.ID)
	w.privateAddresses[id] = addresses
	w.networks.Set(id, at, network)
	return nil
}

// newPrivateKey makes a key in the form that ssh reads of every kind of key.
func newPrivateKey() (string, error) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return "", fmt.Errorf("network key: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(key, "")
	if err != nil {
		return "", fmt.Errorf("network key: %w", err)
	}
	return string(pem.EncodeToMemory(block)), nil
}

// UpdateNetwork replaces what can be changed of a network.
func (w *World) UpdateNetwork(id ids.NetworkID, update region.NetworkUpdate, actor string) (region.Network, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.Now()
	network, present := w.networks.Get(id, now)
	if !present {
		return region.Network{}, ErrNotFound
	}
	modified := timestamp(now)
	describe(&network.Resource.Metadata, update.Metadata)
	network.Resource.Metadata.ModifiedBy, network.Resource.Metadata.ModifiedTime = actor, &modified
	network.Resource.Spec = update.Spec
	w.networks.Set(id, now, network)
	return network.Resource, nil
}

// RemoveNetwork removes a network that no server is on.
func (w *World) RemoveNetwork(id ids.NetworkID) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.Now()
	network, present := w.networks.Get(id, now)
	if !present {
		return ErrNotFound
	}
	if w.anyServer(now, func(server Server) bool { return server.Resource.Status.NetworkID == id }) {
		return ErrInUse
	}
	w.networks.Row(id).Remove(now)
	w.allocations.Row(network.Allocation).Remove(now)
	delete(w.privateAddresses, id)
	return nil
}

// SecurityGroups returns the security groups that keep accepts, by id.
func (w *World) SecurityGroups(keep func(region.SecurityGroup) bool) []region.SecurityGroup {
	w.mu.Lock()
	defer w.mu.Unlock()
	return selected(w.groups, keep)
}

// SecurityGroup returns a security group.
func (w *World) SecurityGroup(id ids.SecurityGroupID) (region.SecurityGroup, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	group, present := w.groups[id]
	return found(group, present)
}

// Authorities returns the SSH certificate authorities that keep accepts, by
// id.
func (v View) Authorities(keep func(region.SSHCertificateAuthority) bool) []region.SSHCertificateAuthority {
	v.world.mu.Lock()
	defer v.world.mu.Unlock()
	return v.world.authorities.Select(v.at, keep)
}

// Authority returns an SSH certificate authority.
func (v View) Authority(id ids.SSHCertificateAuthorityID) (region.SSHCertificateAuthority, error) {
	v.world.mu.Lock()
	defer v.world.mu.Unlock()
	return found(v.world.authorities.Get(id, v.at))
}

// AddAuthority registers an SSH certificate authority.
func (w *World) AddAuthority(authority region.SSHCertificateAuthority, actor string) region.SSHCertificateAuthority {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.Now()
	authority.Metadata.ID = newID()
	authority.Metadata.CreationTime = timestamp(now)
	authority.Metadata.CreatedBy = actor
	authority.Metadata.ProvisioningStatus = unikorn.ProvisioningStatusProvisioned
	authority.Metadata.HealthStatus = unikorn.HealthStatusHealthy
	w.authorities.Set(ids.SSHCertificateAuthorityID(authority.Metadata.ID), now, authority)
	return authority
}

// RemoveAuthority removes an SSH certificate authority that no server refers
// to.
func (w *World) RemoveAuthority(id ids.SSHCertificateAuthorityID) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.Now()
	if _, present := w.authorities.Get(id, now); !present {
		return ErrNotFound
	}
	if w.anyServer(now, func(server Server) bool { return server.Resource.Status.SSHCertificateAuthorityID == id }) {
		return ErrInUse
	}
	w.authorities.Row(id).Remove(now)
	return nil
}

func (w *World) anyServer(now time.Time, match func(Server) bool) bool {
	found := false
	w.servers.Each(now, func(server Server) { found = found || match(server) })
	return found
}
