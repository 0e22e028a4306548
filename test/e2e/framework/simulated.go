// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/utils/ptr"

	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/adminclient"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/fault"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/settings"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
)

// Simulator is the administration of the simulated platform.
func Simulator() adminclient.Client {
	GinkgoHelper()
	url, err := Env.SimulatorURL()
	Expect(err).NotTo(HaveOccurred())
	return adminclient.Client{URL: url}
}

// Charged are the instances for which quota is held, by object name, sorted;
// one that is charged twice is in it twice.
func Charged(ctx context.Context) []string {
	GinkgoHelper()
	held, err := Simulator().Allocations(ctx)
	Expect(err).NotTo(HaveOccurred())
	names := []string{}
	for _, allocation := range held {
		names = append(names, allocation.Spec.ID)
	}
	slices.Sort(names)
	return names
}

// Machines are the names of the servers there are, sorted.
func Machines(ctx context.Context) []string {
	GinkgoHelper()
	servers, err := Simulator().Servers(ctx)
	Expect(err).NotTo(HaveOccurred())
	names := []string{}
	for _, server := range servers {
		names = append(names, server.Metadata.Name)
	}
	slices.Sort(names)
	return names
}

// Limit changes what acme may have of a kind until the spec ends.
func Limit(ctx context.Context, kind string, quantity int) {
	GinkgoHelper()
	fixture := map[string]int{"servers": 10, "gpus": 2, "floatingips": 3}
	Expect(Simulator().SetQuotas(ctx, world.Acme, map[string]*int{kind: &quantity})).To(Succeed())
	DeferCleanup(func(ctx SpecContext) {
		Expect(Simulator().SetQuotas(ctx, world.Acme, map[string]*int{kind: ptr.To(fixture[kind])})).To(Succeed())
	})
}

// WithFaults lets requests to the platform go wrong until the spec ends.
func WithFaults(ctx context.Context, faults ...fault.Fault) {
	GinkgoHelper()
	Expect(Simulator().SetFaults(ctx, faults...)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { Expect(Simulator().ClearFaults(ctx)).To(Succeed()) })
}

// WithSettings changes the simulator until the spec ends.
func WithSettings(ctx context.Context, edit func(*settings.Settings)) {
	GinkgoHelper()
	before, err := Simulator().Settings(ctx)
	Expect(err).NotTo(HaveOccurred())
	changed := before
	edit(&changed)
	Expect(Simulator().SetSettings(ctx, changed)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { Expect(Simulator().SetSettings(ctx, before)).To(Succeed()) })
}

// AddressOf is where a component of the environment listens.
func AddressOf(component string) string {
	GinkgoHelper()
	content, err := os.ReadFile(filepath.Join(string(Env.Folder), "addresses.json"))
	Expect(err).NotTo(HaveOccurred())
	var addresses map[string]string
	Expect(json.Unmarshal(content, &addresses)).To(Succeed())
	Expect(addresses).To(HaveKey(component))
	return addresses[component]
}

// Replicas are the URLs of the API server's processes.
func Replicas() []string {
	GinkgoHelper()
	return []string{"https://" + AddressOf("instance-apiserver-0"), "https://" + AddressOf("instance-apiserver-1")}
}
