// SPDX-License-Identifier: Apache-2.0

package world

import (
	"fmt"
	"net/netip"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
)

// publicPrefix is where public addresses come from.
const publicPrefix = "198.51.100.0/24"

// firstHost leaves the network's own address and those of its services out.
const firstHost = 10

// pool hands out the addresses of a prefix, never one that somebody holds. It
// goes round, so that an address given back rests before it is used again.
type pool struct {
	prefix netip.Prefix
	next   netip.Addr
	held   map[netip.Addr]ids.ServerID
}

func newPool(prefix string) (*pool, error) {
	parsed, err := netip.ParsePrefix(prefix)
	if err != nil {
		return nil, fmt.Errorf("address prefix: %w", err)
	}
	p := &pool{prefix: parsed.Masked(), held: map[netip.Addr]ids.ServerID{}}
	p.next = p.first()
	return p, nil
}

func (p *pool) first() netip.Addr {
	address := p.prefix.Addr()
	for range firstHost {
		address = address.Next()
	}
	return address
}

// take returns an address for a server. stillHeld tells whether a server that
// was given an address still has it. It reports false when all are held.
func (p *pool) take(server ids.ServerID, stillHeld func(netip.Addr, ids.ServerID) bool) (netip.Addr, bool) {
	first := p.next
	for wrapped := false; ; {
		candidate := p.next
		if p.next = candidate.Next(); !p.usable(p.next) {
			p.next = p.first()
		}
		holder, given := p.held[candidate]
		if !given || !stillHeld(candidate, holder) {
			p.held[candidate] = server
			return candidate, true
		}
		if wrapped = wrapped || p.next == first; wrapped {
			return netip.Addr{}, false
		}
	}
}

// usable leaves out the broadcast address.
func (p *pool) usable(address netip.Addr) bool {
	return p.prefix.Contains(address) && p.prefix.Contains(address.Next())
}

func (w *World) takePublic(server ids.ServerID) (netip.Addr, bool) {
	now := w.clock.Now()
	return w.publicAddresses.take(server, func(address netip.Addr, holder ids.ServerID) bool {
		held, present := w.servers.Get(holder, now)
		return present && held.Public == address
	})
}

func (w *World) takePrivate(network ids.NetworkID, server ids.ServerID) (netip.Addr, bool) {
	addresses, present := w.privateAddresses[network]
	if !present {
		return netip.Addr{}, false
	}
	now := w.clock.Now()
	return addresses.take(server, func(address netip.Addr, holder ids.ServerID) bool {
		held, present := w.servers.Get(holder, now)
		return present && held.Private == address
	})
}
