// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/quota"
	"github.com/unikorn-cloud/instance-apiserver/pkg/tenancy"
)

// findings are what one create or update has found out beside the object. The
// Store runs its steps again for a generated name, where what is in here lets
// the second round ask nobody a second time, and on a conflict, where it is
// found out anew because the stored object is another.
type findings struct {
	// subject is the user name of the caller.
	subject string
	// scope is the owner of the namespace, or of the stored object.
	scope tenancy.Scope
	// caller is who the platform takes the caller for.
	caller principal.Caller
	// facts are what region said of the references.
	facts facts
	// checked says that the form was right and facts were gathered.
	checked bool
	// charge is what the write costs; the storage takes it from the context.
	charge quota.Charge
	// warnings are for the client.
	warnings []string
}

func (f *findings) actor() string {
	return f.caller.Principal.Actor
}

// forget is for the end of an update: where the object is gone when it comes to
// be written, apply creates it, which takes more than the update was checked for.
func (f *findings) forget(context.Context, bool) {
	f.checked = false
}

// validate checks the references where they were looked up.
func (f *findings) validate(instance *compute.Instance) field.ErrorList {
	if !f.checked {
		return nil
	}
	return f.facts.validate(&instance.Spec, f.scope)
}

type findingsKey struct{}

func withFindings(ctx context.Context, found *findings) context.Context {
	return context.WithValue(ctx, findingsKey{}, found)
}

// findingsFrom returns the findings of the request. Every write comes through
// REST, which puts them there.
func findingsFrom(ctx context.Context) *findings {
	return ctx.Value(findingsKey{}).(*findings)
}
