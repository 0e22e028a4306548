// SPDX-License-Identifier: Apache-2.0

package world

import (
	"net"
	"net/netip"
	"time"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/console"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/machine"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/settings"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// Server is a server: what was asked for, what was given to it, and how far it
// has come.
type Server struct {
	// Resource is the server without what changes by itself; Read adds it.
	Resource region.Server
	// Private and Public are its addresses from the start, though they show
	// only once its ports are there. Public is the zero address when none was
	// asked for.
	Private, Public netip.Addr
	// MAC shows only once the machine was launched.
	MAC   string
	State machine.State
	// goneAt is when a server that is being deleted will be gone.
	goneAt  time.Time
	console *console.Log
}

// ID returns the id of the server.
func (s Server) ID() ids.ServerID {
	return ids.ServerID(s.Resource.Metadata.ID)
}

// Read returns the server as region shows it.
func (s Server) Read() region.Server {
	shown := s.Resource
	shown.Metadata.ProvisioningStatus = s.State.Provisioning
	if s.State.Reason != "" {
		shown.Metadata.ProvisioningStatusDetail = &unikorn.StatusDetail{
			Reason: s.State.Reason, Message: provisioningMessages[s.State.Reason],
		}
	}
	shown.Metadata.HealthStatus = s.State.Health
	shown.Metadata.HealthStatusDetail = healthDetails[s.State.Health]
	shown.Status.PowerState = s.State.Power
	if s.State.Ports {
		shown.Status.PrivateIP = text(s.Private)
		shown.Status.PublicIP = text(s.Public)
	}
	if s.State.Launched {
		shown.Status.MacAddress = s.MAC
	}
	return shown
}

var provisioningMessages = map[string]string{
	"Provisioning":   "The server is being provisioned.",
	"Provisioned":    "The server is provisioned.",
	"Deprovisioning": "The server is being deprovisioned.",
	"Errored":        "The server could not be provisioned.",
}

var healthDetails = map[unikorn.HealthStatus]*unikorn.StatusDetail{
	unikorn.HealthStatusHealthy:  {Reason: "Healthy", Message: "The server is active."},
	unikorn.HealthStatusDegraded: {Reason: "Degraded", Message: "The server is not active."},
	unikorn.HealthStatusUnknown:  {Reason: "Unknown", Message: "The state of the server is not known."},
}

func text(address netip.Addr) string {
	if !address.IsValid() {
		return ""
	}
	return address.String()
}

// Servers returns the servers that keep accepts, by id.
func (v View) Servers(keep func(Server) bool) []Server {
	v.world.mu.Lock()
	defer v.world.mu.Unlock()
	return v.world.servers.Select(v.at, keep)
}

// Server returns a server.
func (v View) Server(id ids.ServerID) (Server, error) {
	v.world.mu.Lock()
	defer v.world.mu.Unlock()
	return found(v.world.servers.Get(id, v.at))
}

// AddServer makes a server of an id nobody has, not even a dying server, and
// has it boot.
func (w *World) AddServer(resource region.Server, flavor region.Flavor, actor string) (Server, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.Now()
	w.forget(now)
	if _, taken := w.servers.Get(ids.ServerID(resource.Metadata.ID), now); taken {
		return Server{}, ErrTaken
	}
	resource.Metadata.CreatedBy = actor
	server, addressed := w.newServer(now, resource)
	boot := settings.Millis(w.settings.Get().BootMillis)
	steps := machine.Boot(boot)
	switch {
	case !addressed:
		steps = []machine.Step{{State: machine.Created()}, {After: boot / 5, State: machine.Failed()}}
	case flavor.Spec.Baremetal:
		steps = machine.BootMetal(boot)
	}
	if addressed {
		server.console.PowerOn(now.Add(boot))
	}
	return w.follow(now, server, steps), nil
}

// newServer gives a server its addresses, and reports false when there are
// none left.
func (w *World) newServer(now time.Time, resource region.Server) (Server, bool) {
	resource.Metadata.CreationTime = timestamp(now)
	server := Server{Resource: resource, console: &console.Log{}}
	private, addressed := w.takePrivate(resource.Status.NetworkID, server.ID())
	server.Private, server.MAC = private, macAddress(private)
	if addressed && wantsPublic(resource.Spec) {
		server.Public, addressed = w.takePublic(server.ID())
	}
	return server, addressed
}

// follow lays a server's next steps, the first of which begins now, in place of
// those planned before. A server that is being deleted goes when it was to go.
func (w *World) follow(now time.Time, server Server, steps []machine.Step) Server {
	server.State = steps[0].State
	row := w.servers.Set(server.ID(), now, server)
	for _, step := range steps[1:] {
		at := now.Add(step.After)
		if !server.goneAt.IsZero() && !at.Before(server.goneAt) {
			break
		}
		next := server
		next.State = step.State
		row.Plan(at, next)
	}
	if !server.goneAt.IsZero() {
		row.PlanRemoval(server.goneAt)
	}
	return server
}

func wantsPublic(spec region.ServerSpec) bool {
	return spec.Networking != nil && spec.Networking.PublicIP
}

// macAddress is unique where the private address is.
func macAddress(private netip.Addr) string {
	if !private.Is4() {
		return ""
	}
	b := private.As4()
	return net.HardwareAddr{0xfa, 0x16, 0x3e, b[1], b[2], b[3]}.String()
}
