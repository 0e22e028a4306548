// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/computetest"
	"github.com/unikorn-cloud/instance-apiserver/pkg/identity"
)

func TestCostOf(t *testing.T) {
	tests := map[string]struct {
		gpus     int
		publicIP bool
		want     Cost
	}{
		"machine":        {0, false, Cost{Servers: 1}},
		"public address": {0, true, Cost{Servers: 1, Addresses: 1}},
		"GPUs":           {8, false, Cost{Servers: 1, GPUs: 8}},
		"all":            {2, true, Cost{Servers: 1, GPUs: 2, Addresses: 1}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := CostOf(test.gpus, test.publicIP); got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestMaxAndCovers(t *testing.T) {
	tests := map[string]struct {
		a, b, max     Cost
		covers, other bool
	}{
		"equal":         {Cost{Servers: 1}, Cost{Servers: 1}, Cost{Servers: 1}, true, true},
		"fewer GPUs":    {Cost{Servers: 1, GPUs: 4}, Cost{Servers: 1, GPUs: 2}, Cost{Servers: 1, GPUs: 4}, true, false},
		"no servers":    {Cost{}, Cost{Servers: 1}, Cost{Servers: 1}, false, true},
		"each has more": {Cost{Servers: 1, GPUs: 4}, Cost{Servers: 1, Addresses: 1}, Cost{Servers: 1, GPUs: 4, Addresses: 1}, false, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := test.a.Max(test.b); got != test.max {
				t.Errorf("max %+v, want %+v", got, test.max)
			}
			if test.a.Max(test.b) != test.b.Max(test.a) {
				t.Error("the order decides")
			}
			if got := test.a.Covers(test.b); got != test.covers {
				t.Errorf("covers %t, want %t", got, test.covers)
			}
			if got := test.b.Covers(test.a); got != test.other {
				t.Errorf("is covered %t, want %t", got, test.other)
			}
		})
	}
}

func TestAllocationOfACost(t *testing.T) {
	got := NewLedger("publicips", "7c0ffee0").Allocation(computetest.ObjectName, Cost{Servers: 1, GPUs: 2})
	if got.Metadata.Name != "k8s-7c0ffee0" {
		t.Errorf("named %q", got.Metadata.Name)
	}
	want := identity.AllocationSpec{
		Kind: "computeinstances.compute.unikorn-cloud.org",
		ID:   string(computetest.ObjectName),
		Allocations: []identity.ResourceAllocation{
			{Kind: "servers", Committed: 1},
			{Kind: "gpus", Committed: 2},
			{Kind: "publicips", Committed: 0},
		},
	}
	if diff := cmp.Diff(want, got.Spec); diff != "" {
		t.Errorf("allocation (-want +got):\n%s", diff)
	}
}

func TestCostOfAnAllocation(t *testing.T) {
	ledger := NewLedger("publicips", "7c0ffee0")
	for _, cost := range []Cost{{}, {Servers: 1}, {Servers: 1, GPUs: 2, Addresses: 1}} {
		if got := ledger.Charged(ledger.Allocation(computetest.ObjectName, cost).Spec); got != cost {
			t.Errorf("wrote %+v, read %+v", cost, got)
		}
	}
	foreign := identity.AllocationSpec{Allocations: []identity.ResourceAllocation{
		{Kind: "servers", Committed: 1, Reserved: 2},
		{Kind: "servers", Committed: 1},
		{Kind: "floatingips", Committed: 5},
		{Kind: "clusters", Committed: 7},
	}}
	if got, want := ledger.Charged(foreign), (Cost{Servers: 4}); got != want {
		t.Errorf("read %+v, want %+v", got, want)
	}
}
