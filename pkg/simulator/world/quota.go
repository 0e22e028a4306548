// SPDX-License-Identifier: Apache-2.0

package world

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/unikorn-cloud/instance-apiserver/pkg/identity"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
)

// quotaKind is a kind of quota the platform is shipped with. Kinds beyond
// these have no default and are unlimited until an organization limits them.
type quotaKind struct {
	display string
	limit   int
	format  string
}

const (
	decimal = "decimal"
	binary  = "binary"
)

var shippedQuotas = map[string]quotaKind{
	"networks":      {"Networks", 5, decimal},
	"loadbalancers": {"Load balancers", 5, decimal},
	"clusters":      {"Clusters", 5, decimal},
	"servers":       {"Servers", 10, decimal},
	"gpus":          {"GPUs", 40, decimal},
	"publicips":     {"Public IP addresses", 5, decimal},
	"filestorage":   {"File storage", 1 << 40, binary},
	"volume":        {"Volumes", 0, binary},
}

// QuotaError says that an allocation would exceed a limit. Its text is what
// identity says, the only way to tell it from a lack of permission.
type QuotaError struct {
	Kind         string
	Total, Limit int
}

// Error makes QuotaError an error.
func (e *QuotaError) Error() string {
	return fmt.Sprintf("%s: total %d exceeds quota limit %d", e.Kind, e.Total, e.Limit)
}

// SetQuotas changes limits of an organization by kind; a nil limit puts the
// default back. Kinds that are not named keep their limit.
func (w *World) SetQuotas(id ids.OrganizationID, limits map[string]*int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	organization, present := w.organizations[id]
	if !present {
		return ErrNotFound
	}
	for kind, limit := range limits {
		if limit == nil {
			delete(organization.limits, kind)
			continue
		}
		organization.limits[kind] = *limit
	}
	return nil
}

// Quotas returns the limits of an organization and what is used, by kind.
func (w *World) Quotas(id ids.OrganizationID) ([]identity.Quota, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	organization, present := w.organizations[id]
	if !present {
		return nil, ErrNotFound
	}
	kinds := slices.Collect(maps.Keys(shippedQuotas))
	for kind := range organization.limits {
		if _, shipped := shippedQuotas[kind]; !shipped {
			kinds = append(kinds, kind)
		}
	}
	used := w.used(id, "")
	quotas := make([]identity.Quota, 0, len(kinds))
	for _, kind := range kinds {
		limit, _ := organization.limit(kind)
		shipped := shippedQuotas[kind]
		total := used[kind].Committed + used[kind].Reserved
		quotas = append(quotas, identity.Quota{
			Kind: kind, Quantity: limit, Used: total, Free: limit - total,
			Committed: used[kind].Committed, Reserved: used[kind].Reserved,
			Default: shipped.limit, Format: cmp.Or(shipped.format, decimal),
			DisplayName: cmp.Or(shipped.display, kind), Description: "Limit of " + kind + " in an organization.",
		})
	}
	slices.SortFunc(quotas, func(a, b identity.Quota) int { return cmp.Compare(a.Kind, b.Kind) })
	return quotas, nil
}

// limit returns what an organization may have of a kind, and whether there is
// a limit at all.
func (o *organization) limit(kind string) (int, bool) {
	if own, set := o.limits[kind]; set {
		return own, true
	}
	shipped, known := shippedQuotas[kind]
	return shipped.limit, known
}

// used sums what the allocations of an organization take, by kind, leaving out
// one allocation.
func (w *World) used(id ids.OrganizationID, except string) map[string]identity.ResourceAllocation {
	used := map[string]identity.ResourceAllocation{}
	w.allocations.Each(w.clock.Now(), func(allocation identity.Allocation) {
		if allocation.Metadata.OrganizationID != id || allocation.Metadata.ID == except {
			return
		}
		for _, share := range allocation.Spec.Allocations {
			total := used[share.Kind]
			total.Committed += share.Committed
			total.Reserved += share.Reserved
			used[share.Kind] = total
		}
	})
	return used
}

// covers checks what an organization would use with an allocation in place of
// its former self.
func (w *World) covers(allocation identity.Allocation) error {
	organization, present := w.organizations[allocation.Metadata.OrganizationID]
	if !present {
		return ErrNotFound
	}
	totals := w.used(allocation.Metadata.OrganizationID, allocation.Metadata.ID)
	for _, share := range allocation.Spec.Allocations {
		total := totals[share.Kind]
		total.Committed += share.Committed
		total.Reserved += share.Reserved
		totals[share.Kind] = total
	}
	for _, share := range allocation.Spec.Allocations {
		total := totals[share.Kind].Committed + totals[share.Kind].Reserved
		if limit, limited := organization.limit(share.Kind); limited && total > limit {
			return &QuotaError{Kind: share.Kind, Total: total, Limit: limit}
		}
	}
	return nil
}
