// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"context"

	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
)

// Charge says what the write of a request costs, and on whose account. The
// registry fills it in when it knows; the zero Charge is of a write that costs
// nothing new.
type Charge struct {
	// Due says that the write must be paid for.
	Due bool
	// Confirm is asked right before the charge whether what it rests on still
	// holds; its error is the client's answer.
	Confirm func(ctx context.Context) error
	// Principal is the caller, whose organization and project are charged.
	Principal principal.Principal
	// Cost is what the instance takes once it is written. On an update this is
	// the larger of the old and the new cost, kind by kind.
	Cost Cost
	// Taken is the object name that a create of this request ran into, if it
	// did. Another attempt at the same name would be charged for nothing.
	Taken string
}

type chargeKey struct{}

// WithCharge returns a context that carries charge down to the write.
func WithCharge(ctx context.Context, charge *Charge) context.Context {
	return context.WithValue(ctx, chargeKey{}, charge)
}

func chargeFrom(ctx context.Context) (*Charge, bool) {
	charge, ok := ctx.Value(chargeKey{}).(*Charge)
	return charge, ok
}
