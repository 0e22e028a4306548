// SPDX-License-Identifier: Apache-2.0

package region

import (
	"net/netip"
	"slices"
)

// Normalize returns a spec as region reads it back after storing it: empty
// members are absent, and host bits of prefixes are cleared. Two specs ask for
// the same server when their normal forms are deeply equal. The rules are in
// docs/reference/wire.md, "Servers".
func (s ServerSpec) Normalize() ServerSpec {
	s.Networking = s.Networking.normalize()
	if len(s.UserData) == 0 {
		s.UserData = nil
	}
	return s
}

func (n *ServerNetworking) normalize() *ServerNetworking {
	if n == nil || (len(n.SecurityGroups) == 0 && !n.PublicIP && len(n.AllowedSourceAddresses) == 0) {
		return nil
	}
	normal := &ServerNetworking{PublicIP: n.PublicIP}
	if len(n.SecurityGroups) > 0 {
		normal.SecurityGroups = slices.Clone(n.SecurityGroups)
	}
	for _, address := range n.AllowedSourceAddresses {
		normal.AllowedSourceAddresses = append(normal.AllowedSourceAddresses, withoutHostBits(address))
	}
	return normal
}

// withoutHostBits leaves what is not a prefix as it is, for region to refuse.
func withoutHostBits(address string) string {
	prefix, err := netip.ParsePrefix(address)
	if err != nil {
		return address
	}
	return prefix.Masked().String()
}
