// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"regexp"
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/settings"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
)

// fixtureNames are what the simulator has from the start, by id.
func fixtureNames(t *testing.T) map[string]string {
	t.Helper()
	w, err := world.New(clock.RealClock{}, settings.NewStore(settings.Default()))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{
		string(world.Acme): "acme", string(world.Umbrella): "umbrella",
		string(world.Alpha): "alpha", string(world.Beta): "beta", string(world.Gamma): "gamma",
	}
	for _, each := range w.Regions() {
		names[each.Metadata.ID] = each.Metadata.Name
	}
	for _, each := range w.Flavors() {
		names[each.Metadata.ID] = each.Metadata.Name
	}
	for _, each := range w.Now().Images(world.North, func(world.Image) bool { return true }) {
		names[each.Resource.Metadata.ID] = each.Resource.Metadata.Name
	}
	for _, each := range w.Now().Networks(func(world.Network) bool { return true }) {
		names[each.Resource.Metadata.ID] = each.Resource.Metadata.Name + ", " + each.Resource.Status.Prefix
	}
	for _, each := range w.SecurityGroups(func(region.SecurityGroup) bool { return true }) {
		names[each.Metadata.ID] = each.Metadata.Name
	}
	for _, each := range w.Now().Authorities(func(region.SSHCertificateAuthority) bool { return true }) {
		names[each.Metadata.ID] = each.Metadata.Name
	}
	return names
}

var uuidInCode = regexp.MustCompile("`([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})`")

// TestFixtureIsDocumented: fixture.md has every id of the simulator, in one line
// with its name, and no other, and everybody with a kubeconfig.
func TestFixtureIsDocumented(t *testing.T) {
	page, names := read(t, "docs/fixture.md"), fixtureNames(t)
	if len(names) < 25 {
		t.Errorf("%d ids: they were not found", len(names))
	}
	documented := map[string]string{}
	for line := range strings.Lines(page) {
		for _, id := range uuidInCode.FindAllStringSubmatch(line, -1) {
			documented[id[1]] = line
		}
	}
	for id, name := range names {
		if !strings.Contains(documented[id], name) {
			t.Errorf("%s, %q, has no line in fixture.md", id, name)
		}
	}
	for id := range documented {
		if names[id] == "" {
			t.Errorf("fixture.md has %s, which the simulator does not", id)
		}
	}
	isPerson := regexp.MustCompile(`^(admin|.*-(editor|viewer))$`)
	people := 0
	for _, name := range constants(t, "hack/devcluster/environment") {
		if !isPerson.MatchString(name) {
			continue
		}
		people++
		if !strings.Contains(page, "\n| `"+name+"` |") {
			t.Errorf("%s is not in fixture.md", name)
		}
	}
	if people < 6 {
		t.Errorf("%d people: they were not found", people)
	}
}
