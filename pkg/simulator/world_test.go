// SPDX-License-Identifier: Apache-2.0

package simulator_test

import (
	"net/http"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
)

// summary of a thing with an id, an owner and a network.
type summary struct {
	Metadata struct{ ID, Name, OrganizationID, ProjectID string }
	Status   struct{ NetworkID, RegionID, Prefix string }
}

var _ = Describe("The fixture", func() {
	var h *harness
	BeforeEach(func() { h = newHarness() })

	list := func(path string) map[string]summary {
		byID := map[string]summary{}
		for _, item := range decoded[[]summary](h.compute().get(path), http.StatusOK) {
			byID[item.Metadata.ID] = item
		}
		return byID
	}

	It("has networks, groups and authorities of three projects", func() {
		networks, groups, authorities := list("/api/v2/networks"), list("/api/v2/securitygroups"), list("/api/v2/sshcertificateauthorities")
		Expect(networks).To(HaveLen(4))
		Expect(groups).To(HaveLen(4))
		Expect(authorities).To(HaveLen(3))
		for _, want := range []struct{ digit, name, prefix, organization, project string }{
			{"1", "alpha-net", "10.1.0.0/16", string(world.Acme), string(world.Alpha)},
			{"2", "alpha-net2", "10.2.0.0/16", string(world.Acme), string(world.Alpha)},
			{"3", "beta-net", "10.3.0.0/16", string(world.Acme), string(world.Beta)},
			{"4", "gamma-net", "10.4.0.0/16", string(world.Umbrella), string(world.Gamma)},
		} {
			id := "0d000000-0000-4000-8000-0000000000d" + want.digit
			network := networks[id]
			Expect(network.Metadata.Name).To(Equal(want.name))
			Expect(network.Metadata.OrganizationID).To(Equal(want.organization))
			Expect(network.Metadata.ProjectID).To(Equal(want.project))
			Expect(network.Status.Prefix).To(Equal(want.prefix))
			Expect(network.Status.RegionID).To(Equal(string(world.North)))
			group := groups["0e000000-0000-4000-8000-0000000000e"+want.digit]
			Expect(group.Status.NetworkID).To(Equal(id))
			Expect(group.Metadata.ProjectID).To(Equal(want.project))
		}
		for digit, project := range map[string]string{"1": string(world.Alpha), "2": string(world.Beta), "3": string(world.Gamma)} {
			Expect(authorities["0f000000-0000-4000-8000-0000000000f"+digit].Metadata.ProjectID).To(Equal(project))
		}
	})

	It("has flavors and images of every kind", func() {
		base := "/api/v1/organizations/" + string(world.Acme) + "/regions/" + string(world.North)
		flavors := map[string]region.FlavorSpec{}
		for _, flavor := range decoded[[]region.Flavor](h.compute().get(base+"/flavors"), http.StatusOK) {
			flavors[flavor.Metadata.ID] = flavor.Spec
		}
		Expect(flavors).To(HaveLen(6))
		gpu := flavors["22222222-2222-2222-2222-222222222222"]
		Expect(*gpu.GPU).To(Equal(region.FlavorGPU{Vendor: "NVIDIA", Model: "L4", Memory: 16, PhysicalCount: 1, LogicalCount: 1}))
		gpu.GPU = nil
		Expect(gpu).To(Equal(region.FlavorSpec{CPUs: 8, Memory: 16, Disk: 214, Architecture: "x86_64"}))
		for id, want := range map[string]region.FlavorSpec{
			"11111111-1111-1111-1111-111111111111": {CPUs: 4, Memory: 8, Disk: 107, Architecture: "x86_64"},
			"55555555-5555-5555-5555-555555555555": {CPUs: 4, Memory: 8, Disk: 107, Architecture: "aarch64"},
			"66666666-6666-6666-6666-666666666666": {CPUs: 64, Memory: 256, Disk: 2000, Architecture: "x86_64", Baremetal: true},
			"77777777-7777-7777-7777-777777777777": {CPUs: 1, Memory: 1, Disk: 5, Architecture: "x86_64"},
		} {
			Expect(flavors[id]).To(Equal(want), id)
		}
		Expect(flavors["dddddddd-dddd-dddd-dddd-dddddddddddd"].PinnedOnly).To(BeTrue())

		images := map[string]region.Image{}
		all := "/api/v2/regions/" + string(world.North) + "/images?organizationID=" + string(world.Umbrella)
		for _, image := range decoded[[]region.Image](h.compute().get(all), http.StatusOK) {
			images[image.Metadata.ID] = image
		}
		Expect(images).To(HaveLen(7))
		for id, want := range map[string]struct {
			size           int
			architecture   string
			virtualization string
			state          string
		}{
			"33333333-3333-3333-3333-333333333333": {20, "x86_64", "virtualized", "ready"},
			"44444444-4444-4444-4444-444444444444": {30, "x86_64", "virtualized", "ready"},
			"88888888-8888-8888-8888-888888888888": {20, "aarch64", "virtualized", "ready"},
			"99999999-9999-9999-9999-999999999999": {20, "x86_64", "baremetal", "ready"},
			"aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa": {20, "x86_64", "any", "ready"},
			"bbbbbbbb-bbbb-bbbb-bbbb-bbbbbbbbbbbb": {20, "x86_64", "virtualized", "pending"},
			"cccccccc-cccc-cccc-cccc-cccccccccccc": {20, "x86_64", "virtualized", "ready"},
		} {
			Expect(images[id].Spec.SizeGiB).To(Equal(want.size), id)
			Expect(images[id].Spec.Architecture).To(BeEquivalentTo(want.architecture), id)
			Expect(images[id].Spec.Virtualization).To(BeEquivalentTo(want.virtualization), id)
			Expect(images[id].Status.State).To(BeEquivalentTo(want.state), id)
		}
		Expect(images["33333333-3333-3333-3333-333333333333"].Spec.SoftwareVersions).To(HaveKeyWithValue("kubernetes", "v1.31.0"))
		Expect(images["44444444-4444-4444-4444-444444444444"].Spec.GPU.Driver).To(Equal("550.54.15"))
	})
})

var _ = Describe("Callers at the same time", func() {
	// together runs a call many times at once and counts the statuses.
	together := func(times int, call func() answer) map[int]int {
		GinkgoHelper()
		answers := make(chan answer, times)
		var group sync.WaitGroup
		for range times {
			group.Go(func() {
				defer GinkgoRecover()
				answers <- call()
			})
		}
		group.Wait()
		close(answers)
		counts := map[int]int{}
		for a := range answers {
			counts[a.status]++
		}
		return counts
	}

	It("share a quota exactly, and a name once", func() {
		h := newHarness()
		alpha := allocationsPath(world.Acme, world.Alpha)
		Expect(together(30, func() answer { return h.charger().post(alpha, charge(1, 0, 0)) })).
			To(Equal(map[int]int{http.StatusCreated: 10, http.StatusForbidden: 20}))
		Expect(together(30, func() answer { return h.compute().post(serversPath, serverCreate("web-0")) })).
			To(Equal(map[int]int{http.StatusCreated: 1, http.StatusConflict: 29}))
	})
})
