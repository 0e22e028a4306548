// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
)

const (
	// flavorsFor is how long a list of flavors is believed. What a flavor is
	// never changes; which there are does.
	flavorsFor = 5 * time.Minute
	// flavorsMissFor is how long it is believed about one that is not in it.
	flavorsMissFor = 10 * time.Second
)

// flavorBook knows the flavors of regions.
type flavorBook struct {
	lister FlavorLister
	signer Signer
	clock  clock.Clock

	mu    sync.Mutex
	pages map[flavorPage]*flavors
}

type flavorPage struct {
	organization ids.OrganizationID
	region       ids.RegionID
}

type flavors struct {
	mu    sync.Mutex
	since time.Time
	gpus  map[string]int
}

// gpus is the number of physical GPUs of the flavor of s. It is false for a
// flavor the organization does not (or no longer) see in the region.
func (b *flavorBook) gpus(ctx context.Context, s *subject) (int, bool, error) {
	page := b.page(s)
	page.mu.Lock()
	defer page.mu.Unlock()
	flavor := folded(s.object.Spec.FlavorID)
	gpus, ok := page.gpus[flavor]
	age := b.clock.Since(page.since)
	if page.gpus != nil && (age < flavorsMissFor || (ok && age < flavorsFor)) {
		return gpus, ok, nil
	}
	started := b.clock.Now()
	list, err := b.lister.Flavors(ctx, b.signer.Sign(s.principal), s.network.Organization, s.network.Region)
	if err != nil {
		return 0, false, err
	}
	page.since, page.gpus = started, physicalGPUs(list)
	gpus, ok = page.gpus[flavor]
	return gpus, ok, nil
}

func (b *flavorBook) page(s *subject) *flavors {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := flavorPage{organization: s.network.Organization, region: s.network.Region}
	if b.pages == nil {
		b.pages = map[flavorPage]*flavors{}
	}
	if b.pages[key] == nil {
		b.pages[key] = &flavors{}
	}
	return b.pages[key]
}

func physicalGPUs(list []region.Flavor) map[string]int {
	gpus := make(map[string]int, len(list))
	for i := range list {
		count := 0
		if gpu := list[i].Spec.GPU; gpu != nil {
			count = gpu.PhysicalCount
		}
		gpus[folded(list[i].ID())] = count
	}
	return gpus
}

// folded makes ids equal that differ in case only.
func folded(id ids.FlavorID) string {
	return strings.ToLower(string(id))
}
