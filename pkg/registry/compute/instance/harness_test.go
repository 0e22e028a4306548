// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/computetest"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/install"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/tenancy"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

const (
	gpuFlavor    = ids.FlavorID("22222222-2222-2222-2222-222222222222")
	otherImage   = ids.ImageID("44444444-4444-4444-4444-444444444444")
	foreignGroup = ids.SecurityGroupID("0e000000-0000-4000-8000-0000000000e3")
)

// home is the owner of the instances of these tests, and of their namespace.
var home = tenancy.Scope{Organization: computetest.Organization, Project: computetest.Project}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	return scheme
}

// requestBy is the context of a request that a person makes in the namespace.
func requestBy(t *testing.T, name string) context.Context {
	ctx := genericapirequest.WithNamespace(t.Context(), computetest.Namespace)
	ctx = genericapirequest.WithUser(ctx, &user.DefaultInfo{Name: name})
	return genericapirequest.WithRequestInfo(ctx, &genericapirequest.RequestInfo{
		APIGroup: v1beta1.GroupName, APIVersion: v1beta1.SchemeGroupVersion.Version, Resource: "instances",
	})
}

// notVisible is what region answers about a thing that a caller may not see, or
// that does not exist.
func notVisible(status int, impersonated bool) error {
	failed := &unikorn.Error{
		Service: unikorn.RegionService, Operation: "Get", Kind: unikorn.Refused,
		StatusCode: status, Code: unikorn.NotFound, Impersonated: impersonated,
	}
	if status == http.StatusForbidden {
		failed.Code = unikorn.Forbidden
	}
	return failed
}

var errDown = &unikorn.Error{Service: unikorn.RegionService, Operation: "Get", Kind: unikorn.Unavailable}

var _ References = &platform{}

// platform is region as one caller sees it. A method that has an error in
// failures answers with it.
type platform struct {
	networks       map[ids.NetworkID]*region.Network
	securityGroups map[ids.SecurityGroupID]*region.SecurityGroup
	authorities    map[ids.SSHCertificateAuthorityID]*region.SSHCertificateAuthority
	flavors        []region.Flavor
	images         []region.Image
	failures       map[string]error
	// arrived, if set, is told of each call before it is answered.
	arrived func(ctx context.Context, method string) error

	mutex        sync.Mutex
	calls        []string
	impersonated []bool
}

func newPlatform() *platform {
	return &platform{
		networks:       map[ids.NetworkID]*region.Network{computetest.Network: network(home, computetest.Network)},
		securityGroups: map[ids.SecurityGroupID]*region.SecurityGroup{computetest.SecurityGroup: securityGroup(home, computetest.Network)},
		authorities:    map[ids.SSHCertificateAuthorityID]*region.SSHCertificateAuthority{computetest.Authority: authority(home)},
		flavors:        []region.Flavor{*flavor(computetest.Flavor), *withGPUs(flavor(gpuFlavor))},
		images:         []region.Image{*image(computetest.Image), *image(otherImage)},
		failures:       map[string]error{},
	}
}

func (p *platform) answer(ctx context.Context, credential principal.Credential, method string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://region.example", http.NoBody)
	if err != nil {
		return err
	}
	if err := credential(ctx, request); err != nil {
		return err
	}
	p.mutex.Lock()
	p.calls = append(p.calls, method)
	p.impersonated = append(p.impersonated, request.Header.Get("X-Impersonate") != "")
	p.mutex.Unlock()
	if p.arrived != nil {
		if err := p.arrived(ctx, method); err != nil {
			return err
		}
	}
	return p.failures[method]
}

// asked are the methods called so far, sorted.
func (p *platform) asked() []string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return slices.Sorted(slices.Values(p.calls))
}

func one[ID comparable, T any](things map[ID]*T, id ID, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	if things[id] == nil {
		return nil, notVisible(http.StatusNotFound, true)
	}
	return things[id], nil
}

func (p *platform) Network(ctx context.Context, credential principal.Credential, id ids.NetworkID) (*region.Network, error) {
	return one(p.networks, id, p.answer(ctx, credential, "Network"))
}

func (p *platform) SecurityGroup(ctx context.Context, credential principal.Credential, id ids.SecurityGroupID) (*region.SecurityGroup, error) {
	return one(p.securityGroups, id, p.answer(ctx, credential, "SecurityGroup"))
}

func (p *platform) SSHCertificateAuthority(ctx context.Context, credential principal.Credential, id ids.SSHCertificateAuthorityID) (*region.SSHCertificateAuthority, error) {
	return one(p.authorities, id, p.answer(ctx, credential, "SSHCertificateAuthority"))
}

func (p *platform) Regions(ctx context.Context, credential principal.Credential, _ ids.OrganizationID) ([]region.Region, error) {
	only := region.Region{}
	only.Metadata.ID = string(computetest.Region)
	return []region.Region{only}, p.answer(ctx, credential, "Regions")
}

func (p *platform) Flavors(ctx context.Context, credential principal.Credential, _ ids.OrganizationID, _ ids.RegionID) ([]region.Flavor, error) {
	return p.flavors, p.answer(ctx, credential, "Flavors")
}

func (p *platform) Images(ctx context.Context, credential principal.Credential, _ ids.OrganizationID, _ ids.RegionID) ([]region.Image, error) {
	return p.images, p.answer(ctx, credential, "Images")
}

func owner(scope tenancy.Scope, id string) unikorn.ProjectScopedReadMetadata {
	return unikorn.ProjectScopedReadMetadata{ID: id, OrganizationID: scope.Organization, ProjectID: scope.Project}
}

func network(scope tenancy.Scope, id ids.NetworkID) *region.Network {
	return &region.Network{Metadata: owner(scope, string(id)), Status: region.NetworkStatus{RegionID: computetest.Region}}
}

func securityGroup(scope tenancy.Scope, on ids.NetworkID) *region.SecurityGroup {
	return &region.SecurityGroup{Metadata: owner(scope, string(computetest.SecurityGroup)), Status: region.SecurityGroupStatus{NetworkID: on}}
}

func authority(scope tenancy.Scope) *region.SSHCertificateAuthority {
	return &region.SSHCertificateAuthority{Metadata: owner(scope, string(computetest.Authority))}
}

func flavor(id ids.FlavorID) *region.Flavor {
	return &region.Flavor{
		Metadata: unikorn.StaticReadMetadata{ID: string(id)},
		Spec:     region.FlavorSpec{Architecture: unikorn.ArchitectureX86, Disk: 20},
	}
}

func withGPUs(f *region.Flavor) *region.Flavor {
	f.Spec.GPU = &region.FlavorGPU{PhysicalCount: 2, LogicalCount: 16}
	return f
}

func image(id ids.ImageID) *region.Image {
	return &region.Image{
		Metadata: unikorn.StaticReadMetadata{ID: string(id)},
		Spec:     region.ImageSpec{Architecture: unikorn.ArchitectureX86, SizeGiB: 20, Virtualization: region.ImageVirtualized},
	}
}

// ownedSpec is a spec that names its owner, as the server leaves it.
func ownedSpec(edits ...func(*compute.Instance)) *compute.InstanceSpec {
	return &computetest.Existing(edits...).Spec
}
