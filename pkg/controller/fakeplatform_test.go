// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/identity"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/quota"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// The life of a server of the fake.
const (
	bootTime   = 3 * time.Second
	deleteTime = 3 * time.Second
	// fakeLag is how long the fake's reads show what was before a write.
	fakeLag = 400 * time.Millisecond
)

var (
	_ RegionClient     = &fakePlatform{}
	_ AllocationClient = &fakePlatform{}
	_ Signer           = fakeSigner{}
)

type fakeSigner struct{}

func (fakeSigner) Sign(principal.Principal) principal.Credential { return nil }

// fakePlatform stands in for region and identity: servers that take their time,
// reads that lag writes, and at every write a look at what must never happen.
// It is used with the time of a synctest bubble.
type fakePlatform struct {
	t      *testing.T
	ledger quota.Ledger
	faults *faults

	mu       sync.Mutex
	networks map[ids.NetworkID]region.Network
	flavors  []region.Flavor
	images   []ids.ImageID
	// missing are the security groups and authorities that do not exist.
	missing     map[string]bool
	servers     []*fakeServer
	allocations map[ids.AllocationID]identity.AllocationSpec
	made        int
	limits      map[string]int
	calls       map[string]int

	// projectGone: the project was deleted. identityBroken: it only looks so.
	projectGone, identityBroken bool
	// hidden: lists show no servers.
	hidden bool
	// forgetful: servers read back without user data and authority.
	forgetful bool
	// down are the operations that get no answer.
	down map[string]bool
}

// fakeServer is a server over time.
type fakeServer struct {
	id       ids.ServerID
	created  time.Time
	versions []version
	deleted  time.Time
	// dying is how long deletion takes.
	dying        time.Duration
	stopped      time.Time
	brokenCreate bool
}

type version struct {
	since    time.Time
	metadata unikorn.WriteMetadata
	create   region.ServerCreateSpec
}

func newFakePlatform(t *testing.T) *fakePlatform {
	network := region.Network{}
	network.Metadata.ID, network.Metadata.OrganizationID, network.Metadata.ProjectID = alphaNet, acme, alpha
	network.Status.RegionID = north
	plain, gpu := region.Flavor{}, region.Flavor{Spec: region.FlavorSpec{GPU: &region.FlavorGPU{PhysicalCount: 1, LogicalCount: 4}}}
	plain.Metadata.ID, gpu.Metadata.ID = standard4, gpu8
	return &fakePlatform{
		t:           t,
		ledger:      quota.NewLedger(quota.DefaultAddressKind, "cluster"),
		faults:      &faults{},
		networks:    map[ids.NetworkID]region.Network{alphaNet: network},
		flavors:     []region.Flavor{plain, gpu},
		images:      []ids.ImageID{ubuntu, ubuntuGPU},
		missing:     map[string]bool{},
		allocations: map[ids.AllocationID]identity.AllocationSpec{},
		limits:      map[string]int{},
		calls:       map[string]int{},
		down:        map[string]bool{},
	}
}

// answer is an answer of a service in its own words.
func answer(status int, code unikorn.ErrorCode) *unikorn.Error {
	return &unikorn.Error{Service: unikorn.RegionService, Operation: "test", Kind: unikorn.Refused, StatusCode: status, Code: code}
}

var (
	errNotFound      = answer(404, unikorn.NotFound)
	errConflict      = answer(409, unikorn.Conflict)
	errUnprocessable = answer(422, unikorn.UnprocessableContent)
	errBadRequest    = answer(400, unikorn.InvalidRequest)
	errServer        = answer(500, unikorn.ServerError)
)

// seen is the server as reads show it, nil if they do not.
func (s *fakeServer) seen(at time.Time) *region.Server {
	if at.Before(s.created) || s.gone(at) {
		return nil
	}
	current := s.versions[0]
	for _, version := range s.versions {
		if !version.since.After(at) {
			current = version
		}
	}
	server := &region.Server{}
	meta := &server.Metadata
	meta.ID, meta.Name, meta.Tags = string(s.id), current.metadata.Name, slices.Clone(current.metadata.Tags)
	meta.OrganizationID, meta.ProjectID, meta.CreationTime = acme, alpha, s.created
	spec := region.ServerSpec{
		FlavorID: current.create.FlavorID, ImageID: current.create.ImageID,
		Networking: current.create.Networking, UserData: current.create.UserData,
	}
	server.Spec = spec.Normalize()
	server.Status.SSHCertificateAuthorityID = current.create.SSHCertificateAuthorityID
	server.Status.RegionID, server.Status.NetworkID = north, current.create.NetworkID
	s.life(server, at, at.Sub(current.since))
	return server
}

func (s *fakeServer) life(server *region.Server, at time.Time, age time.Duration) {
	server.Metadata.HealthStatus = unikorn.HealthStatusUnknown
	server.Metadata.ProvisioningStatus = unikorn.ProvisioningStatusPending
	switch {
	case !s.deleted.IsZero() && !at.Before(s.deleted):
		server.Metadata.DeletionTime = &s.deleted
		server.Metadata.ProvisioningStatus = unikorn.ProvisioningStatusDeprovisioning
	case s.brokenCreate:
		server.Metadata.ProvisioningStatus = unikorn.ProvisioningStatusError
	case age >= bootTime && !s.stopped.IsZero() && !at.Before(s.stopped):
		server.Metadata.ProvisioningStatus = unikorn.ProvisioningStatusProvisioned
		server.Status.PowerState = region.PowerStopped
	case age >= bootTime:
		server.Metadata.ProvisioningStatus = unikorn.ProvisioningStatusProvisioned
		server.Metadata.HealthStatus = unikorn.HealthStatusHealthy
		server.Status.PowerState, server.Status.PrivateIP = region.PowerRunning, "10.1.0.4"
	case age >= bootTime/2:
		server.Metadata.ProvisioningStatus = unikorn.ProvisioningStatusProvisioned
		server.Status.PowerState = region.PowerBuilding
	}
}

func (s *fakeServer) gone(at time.Time) bool {
	return !s.deleted.IsZero() && !at.Before(s.deleted.Add(s.dying))
}

// standing are the servers that exist, whatever reads show.
func (p *fakePlatform) standing() []*fakeServer {
	var standing []*fakeServer
	for _, server := range p.servers {
		if !server.gone(time.Now()) {
			standing = append(standing, server)
		}
	}
	return standing
}

func (p *fakePlatform) find(id ids.ServerID) *fakeServer {
	for _, server := range p.standing() {
		if server.id == id {
			return server
		}
	}
	return nil
}

func (s *fakeServer) tag() ids.InstanceID {
	server := region.Server{}
	server.Metadata.Tags = s.versions[len(s.versions)-1].metadata.Tags
	instance, _ := server.InstanceID()
	return instance
}

// checkCharge fails the test if a spec that is put in place is not paid for.
func (p *fakePlatform) checkCharge(instance ids.InstanceID, spec region.ServerCreateSpec) {
	cost := quota.CostOf(p.gpus(spec.FlavorID), spec.Networking != nil && spec.Networking.PublicIP)
	for _, allocation := range p.allocations {
		if allocation.ID == string(instance) && p.ledger.Charged(allocation).Covers(cost) {
			return
		}
	}
	p.t.Errorf("a server of %s costing %+v is not paid for: %v", instance, cost, p.allocations)
}

// total is what is charged of a kind.
func (p *fakePlatform) total(except ids.AllocationID, kind string) int {
	total := 0
	for id, allocation := range p.allocations {
		if id == except {
			continue
		}
		total += amount(allocation, kind)
	}
	return total
}

func amount(allocation identity.AllocationSpec, kind string) int {
	for _, entry := range allocation.Allocations {
		if entry.Kind == kind {
			return entry.Committed
		}
	}
	return 0
}

func (p *fakePlatform) exceeded(id ids.AllocationID, wanted identity.AllocationSpec) error {
	for kind, limit := range p.limits {
		if total := p.total(id, kind) + amount(wanted, kind); total > limit {
			return &identity.QuotaExceededError{Kind: kind, Total: int64(total), Limit: int64(limit)}
		}
	}
	return nil
}

// count is the number of calls of an operation.
func (p *fakePlatform) count(op string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls[op]
}

// holding is what is held now.
func (p *fakePlatform) holding() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var servers []ids.ServerID
	for _, server := range p.standing() {
		servers = append(servers, server.id)
	}
	return fmt.Sprintf("servers %v allocations %v", servers, slices.Sorted(maps.Keys(p.allocations)))
}

// matches says whether the server of an object really is as specified.
func (p *fakePlatform) matches(object *v1alpha1.ComputeInstance) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, server := range p.standing() {
		if server.tag() == ids.InstanceID(object.Name) && server.deleted.IsZero() {
			return driftOf(&object.Spec, server.seen(time.Now())) == driftNone
		}
	}
	return false
}

const nothing = "servers [] allocations []"

// plant makes a server behind the controller's back.
func (p *fakePlatform) plant(name string, tags ...unikorn.Tag) *fakeServer {
	p.mu.Lock()
	defer p.mu.Unlock()
	id, err := ids.InstanceObjectName(alphaNet, name)
	if err != nil {
		p.t.Fatal(err)
	}
	return p.add(ids.ServerID(id), unikorn.WriteMetadata{Name: name, Tags: tags},
		region.ServerCreateSpec{NetworkID: alphaNet, FlavorID: standard4, ImageID: ubuntu})
}

func (p *fakePlatform) add(id ids.ServerID, metadata unikorn.WriteMetadata, spec region.ServerCreateSpec) *fakeServer {
	server := &fakeServer{id: id, created: time.Now(), dying: deleteTime, versions: []version{{since: time.Now(), metadata: metadata, create: spec}}}
	p.servers = append(p.servers, server)
	return server
}

// charge makes an allocation as the API server does.
func (p *fakePlatform) charge(instance ids.InstanceID, cost quota.Cost) ids.AllocationID {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.allocate(p.ledger.Allocation(instance, cost).Spec)
}

func (p *fakePlatform) allocate(spec identity.AllocationSpec) ids.AllocationID {
	p.made++
	id := ids.AllocationID(fmt.Sprintf("allocation-%d", p.made))
	p.allocations[id] = spec
	return id
}

// charged is what is charged for an allocation.
func (p *fakePlatform) charged(id ids.AllocationID) quota.Cost {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ledger.Charged(p.allocations[id])
}

// power stops the machines of all servers from now on.
func (p *fakePlatform) power() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, server := range p.servers {
		server.stopped = time.Now()
	}
}

// set changes the fake while it is in use.
func (p *fakePlatform) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

func (p *fakePlatform) run(ctx context.Context, op string, commit func() error) error {
	return p.faults.apply(ctx, op, func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.calls[op]++
		if p.down[op] {
			return p.faults.lost
		}
		return commit()
	})
}

// read is the server as reads show it now.
func (p *fakePlatform) read(server *fakeServer) *region.Server {
	seen := server.seen(time.Now().Add(-fakeLag))
	if seen != nil && p.forgetful {
		seen.Spec.UserData, seen.Status.SSHCertificateAuthorityID = nil, ""
	}
	return seen
}
