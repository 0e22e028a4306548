// SPDX-License-Identifier: Apache-2.0

package world

import (
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// Ids of the flavors and images that are there from the start.
const (
	FlavorStandard ids.FlavorID = "11111111-1111-1111-1111-111111111111"
	FlavorGPU      ids.FlavorID = "22222222-2222-2222-2222-222222222222"
	FlavorARM      ids.FlavorID = "55555555-5555-5555-5555-555555555555"
	FlavorMetal    ids.FlavorID = "66666666-6666-6666-6666-666666666666"
	FlavorTiny     ids.FlavorID = "77777777-7777-7777-7777-777777777777"
	FlavorPinned   ids.FlavorID = "dddddddd-dddd-dddd-dddd-dddddddddddd"

	ImageUbuntu  ids.ImageID = "33333333-3333-3333-3333-333333333333"
	ImageGPU     ids.ImageID = "44444444-4444-4444-4444-444444444444"
	ImageARM     ids.ImageID = "88888888-8888-8888-8888-888888888888"
	ImageMetal   ids.ImageID = "99999999-9999-9999-9999-999999999999"
	ImageAny     ids.ImageID = "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa"
	ImagePending ids.ImageID = "bbbbbbbb-bbbb-bbbb-bbbb-bbbbbbbbbbbb"
	ImageOwned   ids.ImageID = "cccccccc-cccc-cccc-cccc-cccccccccccc"
)

func (w *World) addFlavors() {
	x86, arm := unikorn.ArchitectureX86, unikorn.ArchitectureARM
	l4 := &region.FlavorGPU{Vendor: "NVIDIA", Model: "L4", Memory: 16, PhysicalCount: 1, LogicalCount: 1}
	w.addFlavor(FlavorStandard, "sim-standard-4", region.FlavorSpec{CPUs: 4, Memory: 8, Disk: 107, Architecture: x86})
	w.addFlavor(FlavorGPU, "sim-gpu-8", region.FlavorSpec{CPUs: 8, Memory: 16, Disk: 214, Architecture: x86, GPU: l4})
	w.addFlavor(FlavorARM, "sim-arm-4", region.FlavorSpec{CPUs: 4, Memory: 8, Disk: 107, Architecture: arm})
	w.addFlavor(FlavorMetal, "sim-metal-64", region.FlavorSpec{CPUs: 64, Memory: 256, Disk: 2000, Architecture: x86, Baremetal: true})
	w.addFlavor(FlavorTiny, "sim-tiny", region.FlavorSpec{CPUs: 1, Memory: 1, Disk: 5, Architecture: x86})
	w.addFlavor(FlavorPinned, "sim-pinned", region.FlavorSpec{CPUs: 4, Memory: 8, Disk: 107, Architecture: x86, PinnedOnly: true})
}

// addFlavor leaves the creation time at zero, as region shows it.
func (w *World) addFlavor(id ids.FlavorID, name string, spec region.FlavorSpec) {
	w.flavors[id] = region.Flavor{Metadata: unikorn.StaticReadMetadata{ID: string(id), Name: name}, Spec: spec}
}

func (w *World) addImages() {
	x86, arm := unikorn.ArchitectureX86, unikorn.ArchitectureARM
	spec := func(architecture unikorn.Architecture, virtualization region.ImageVirtualization, size int) region.ImageSpec {
		return region.ImageSpec{
			Architecture: architecture, Virtualization: virtualization, SizeGiB: size,
			Os: region.ImageOS{Kernel: "linux", Family: "debian", Distro: "ubuntu", Version: "24.04", Codename: "noble", Variant: "server"},
		}
	}
	kubernetes := spec(x86, region.ImageVirtualized, 20)
	kubernetes.SoftwareVersions = map[string]string{"kubernetes": "v1.31.0"}
	gpu := spec(x86, region.ImageVirtualized, 30)
	gpu.GPU = &region.ImageGPU{Vendor: "NVIDIA", Driver: "550.54.15", Models: []string{"L4"}}

	w.addImage(ImageUbuntu, "ubuntu-24.04-amd64", region.ImageReady, kubernetes)
	w.addImage(ImageGPU, "ubuntu-24.04-gpu-amd64", region.ImageReady, gpu)
	w.addImage(ImageARM, "ubuntu-arm64", region.ImageReady, spec(arm, region.ImageVirtualized, 20))
	w.addImage(ImageMetal, "metal", region.ImageReady, spec(x86, region.ImageBaremetal, 20))
	w.addImage(ImageAny, "any", region.ImageReady, spec(x86, region.ImageAny, 20))
	w.addImage(ImagePending, "pending", region.ImagePending, spec(x86, region.ImageVirtualized, 20))
	w.addOwnedImage(ImageOwned, "umbrella-private", Umbrella, spec(x86, region.ImageVirtualized, 20))
}

func (w *World) addImage(id ids.ImageID, name string, state region.ImageState, spec region.ImageSpec) {
	w.images.Set(id, founded, Image{Region: North, Resource: region.Image{
		Metadata: unikorn.StaticReadMetadata{ID: string(id), Name: name, CreationTime: founded},
		Spec:     spec, Status: region.ImageStatus{State: state},
	}})
}

func (w *World) addOwnedImage(id ids.ImageID, name string, owner ids.OrganizationID, spec region.ImageSpec) {
	w.images.Set(id, founded, Image{Region: North, Owner: owner, Resource: region.Image{
		Metadata: unikorn.StaticReadMetadata{
			ID: string(id), Name: name, CreationTime: founded,
			Tags: []unikorn.Tag{{Name: tagImageOwner, Value: string(owner)}},
		},
		Spec: spec, Status: region.ImageStatus{State: region.ImageReady},
	}})
}
