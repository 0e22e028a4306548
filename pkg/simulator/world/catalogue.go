// SPDX-License-Identifier: Apache-2.0

package world

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/settings"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// Tags that region puts on images.
const (
	tagImageSource = "images.unikorn-cloud.org:source"
	tagImageOwner  = "images.unikorn-cloud.org:organization-id"
)

// Image is an image and what region does not show of it.
type Image struct {
	Resource region.Image
	Region   ids.RegionID
	// Owner is empty for an image that everybody may use.
	Owner ids.OrganizationID
}

// Regions returns the regions, in no particular order.
func (w *World) Regions() []region.Region {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Values(w.regions))
}

// Region returns a region.
func (w *World) Region(id ids.RegionID) (region.Region, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	resource, present := w.regions[id]
	return found(resource, present)
}

// Flavors returns the flavors, ascending by GPUs, CPUs and memory.
func (w *World) Flavors() []region.Flavor {
	w.mu.Lock()
	defer w.mu.Unlock()
	flavors := slices.Collect(maps.Values(w.flavors))
	slices.SortFunc(flavors, func(a, b region.Flavor) int {
		return cmp.Or(
			cmp.Compare(gpus(a), gpus(b)),
			cmp.Compare(a.Spec.CPUs, b.Spec.CPUs),
			cmp.Compare(a.Spec.Memory, b.Spec.Memory),
			cmp.Compare(a.Metadata.ID, b.Metadata.ID),
		)
	})
	return flavors
}

func gpus(flavor region.Flavor) int {
	if flavor.Spec.GPU == nil {
		return 0
	}
	return flavor.Spec.GPU.LogicalCount
}

// Flavor returns a flavor.
func (w *World) Flavor(id ids.FlavorID) (region.Flavor, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	flavor, present := w.flavors[id]
	return found(flavor, present)
}

// Images returns the images of a region that keep accepts, by name.
func (v View) Images(id ids.RegionID, keep func(Image) bool) []Image {
	v.world.mu.Lock()
	defer v.world.mu.Unlock()
	images := v.world.images.Select(v.at, func(image Image) bool { return image.Region == id && keep(image) })
	slices.SortStableFunc(images, func(a, b Image) int {
		return cmp.Compare(a.Resource.Metadata.Name, b.Resource.Metadata.Name)
	})
	return images
}

// Image returns an image of a region that an organization may use.
func (v View) Image(id ids.ImageID, of ids.RegionID, organization ids.OrganizationID) (region.Image, error) {
	v.world.mu.Lock()
	defer v.world.mu.Unlock()
	image, present := v.world.images.Get(id, v.at)
	visible := present && image.Region == of && (image.Owner == "" || image.Owner == organization)
	return found(image.Resource, visible)
}

// Snapshot makes an image of a server's disk. It is a copy of the server's
// image in all but its metadata, and ready after a while. A server that has no
// disk to copy is an error of package machine.
func (w *World) Snapshot(id ids.ServerID, write unikorn.WriteMetadata, actor string) (region.Image, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.Now()
	server, present := w.servers.Get(id, now)
	if !present {
		return region.Image{}, ErrNotFound
	}
	if err := server.State.Snapshot(); err != nil {
		return region.Image{}, err
	}
	source, present := w.images.Get(server.Resource.Spec.ImageID, now)
	if !present {
		return region.Image{}, ErrNotFound
	}
	return w.addSnapshot(now, server, source, write, actor), nil
}

func (w *World) addSnapshot(now time.Time, server Server, source Image, write unikorn.WriteMetadata, actor string) region.Image {
	owner := server.Resource.Metadata.OrganizationID
	image := Image{Resource: source.Resource, Region: source.Region, Owner: owner}
	image.Resource.Metadata = unikorn.StaticReadMetadata{
		ID: newID(), Name: write.Name, Description: write.Description,
		CreationTime: timestamp(now), CreatedBy: actor,
		Tags: snapshotTags(write.Tags, owner),
	}
	at := func(state region.ImageState) Image {
		step := image
		step.Resource.Status = region.ImageStatus{State: state}
		return step
	}
	takes := settings.Millis(w.settings.Get().SnapshotMillis)
	row := w.images.Set(ids.ImageID(image.Resource.Metadata.ID), now, at(region.ImagePending))
	row.Plan(now.Add(takes/5), at(region.ImageCreating))
	row.Plan(now.Add(takes), at(region.ImageReady))
	return at(region.ImagePending).Resource
}

// snapshotTags are the requested tags with region's own put over them, sorted
// by name as those of every image.
func snapshotTags(requested []unikorn.Tag, owner ids.OrganizationID) []unikorn.Tag {
	tags := slices.DeleteFunc(slices.Clone(requested), func(tag unikorn.Tag) bool {
		return tag.Name == tagImageSource || tag.Name == tagImageOwner
	})
	tags = append(tags,
		unikorn.Tag{Name: tagImageSource, Value: "snapshot"},
		unikorn.Tag{Name: tagImageOwner, Value: string(owner)})
	slices.SortStableFunc(tags, func(a, b unikorn.Tag) int { return cmp.Compare(a.Name, b.Name) })
	return tags
}
