// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"context"
	"errors"
	"testing"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/computetest"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/identity"
)

const (
	read  = "read " + string(computetest.Allocation)
	raise = "raise " + string(computetest.Allocation)
)

func change(ctx context.Context, writer *Writer, desired *v1alpha1.ComputeInstance) error {
	_, err := writer.Update(ctx, &storedInstance{Object: computetest.Stored()}, desired)
	return err
}

func TestUpdateOnlyRaises(t *testing.T) {
	tests := map[string]struct {
		held   []Cost
		needed Cost
		want   []string
		after  Cost
	}{
		"more": {
			[]Cost{{Servers: 1}}, Cost{Servers: 1, GPUs: 2},
			[]string{read, raise, "update"}, Cost{Servers: 1, GPUs: 2},
		},
		"less": {
			[]Cost{{Servers: 1, GPUs: 2, Addresses: 1}}, Cost{Servers: 1},
			[]string{read, "update"}, Cost{Servers: 1, GPUs: 2, Addresses: 1},
		},
		"the same": {
			[]Cost{{Servers: 1, GPUs: 2}}, Cost{Servers: 1, GPUs: 2},
			[]string{read, "update"}, Cost{Servers: 1, GPUs: 2},
		},
		"more of one, less of another": {
			[]Cost{{Servers: 1, GPUs: 2}}, Cost{Servers: 1, Addresses: 1},
			[]string{read, raise, "update"}, Cost{Servers: 1, GPUs: 2, Addresses: 1},
		},
		"allocation that is gone": {
			nil, Cost{Servers: 1, GPUs: 2},
			[]string{read, "update"}, Cost{},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBank(t, test.held...)
			writer, _ := till(b)
			if err := change(charged(t.Context(), test.needed), writer, computetest.Stored()); err != nil {
				t.Fatal(err)
			}
			expectEvents(t, b.diary, test.want...)
			var after Cost
			if b.held != nil {
				after = ledger.Charged(*b.held)
			}
			if after != test.after {
				t.Errorf("charged %+v, want %+v", after, test.after)
			}
		})
	}
}

func TestUpdateThatCostsNothingNew(t *testing.T) {
	for name, ctx := range map[string]context.Context{
		"no charge":      t.Context(),
		"nothing to pay": WithCharge(t.Context(), &Charge{Principal: ada, Cost: Cost{Servers: 5}}),
	} {
		t.Run(name, func(t *testing.T) {
			b := newBank(t, Cost{Servers: 1})
			writer, _ := till(b)
			if err := change(ctx, writer, computetest.Stored()); err != nil {
				t.Fatal(err)
			}
			expectEvents(t, b.diary, "update")
		})
	}
}

// The controller charges for what another writer made before it builds it.
func TestUpdateOfAnInstanceWithoutAllocation(t *testing.T) {
	b := newBank(t)
	writer, _ := till(b)
	if err := change(charged(t.Context(), Cost{Servers: 1}), writer, unpaid()); err != nil {
		t.Fatal(err)
	}
	expectEvents(t, b.diary, "update")
}

func TestRefusedRaiseWritesNothing(t *testing.T) {
	exceeded := &identity.QuotaExceededError{Kind: "gpus", Total: 3, Limit: 2}
	tests := map[string]struct {
		method string
		err    error
		want   []string
	}{
		"no quota":           {raise, exceeded, []string{read, raise}},
		"down":               {raise, errDown, []string{read, raise}},
		"down when read":     {read, errDown, []string{read}},
		"gone when replaced": {raise, errMissing, []string{read, raise}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBank(t, Cost{Servers: 1})
			b.failures[test.method] = []error{test.err}
			writer, _ := till(b)
			if err := change(charged(t.Context(), Cost{Servers: 1, GPUs: 3}), writer, computetest.Stored()); !errors.Is(err, test.err) {
				t.Errorf("got %v, want %v", err, test.err)
			}
			expectEvents(t, b.diary, test.want...)
		})
	}
}

// What was raised for a write that failed is the controller's to lower.
func TestRaiseIsNeverPutBack(t *testing.T) {
	b := newBank(t, Cost{Servers: 1})
	writer, s := till(b)
	s.during = func() error { return errRefused }
	if err := change(charged(t.Context(), Cost{Servers: 1, GPUs: 2}), writer, computetest.Stored()); !errors.Is(err, errRefused) {
		t.Errorf("got %v, want %v", err, errRefused)
	}
	writer.refunds.Drain()
	expectEvents(t, b.diary, read, raise, "update")
}
