// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/tenancy"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// References is what an instance may refer to, as the credential's holder sees
// it. Its errors are those of pkg/unikorn.
type References interface {
	networkReader
	SecurityGroup(ctx context.Context, credential principal.Credential, id ids.SecurityGroupID) (*region.SecurityGroup, error)
	SSHCertificateAuthority(ctx context.Context, credential principal.Credential, id ids.SSHCertificateAuthorityID) (*region.SSHCertificateAuthority, error)
	// Regions are those that the organization may use.
	Regions(ctx context.Context, credential principal.Credential, organization ids.OrganizationID) ([]region.Region, error)
	Flavors(ctx context.Context, credential principal.Credential, organization ids.OrganizationID, in ids.RegionID) ([]region.Flavor, error)
	// Images are those that are ready and available to the organization.
	Images(ctx context.Context, credential principal.Credential, organization ids.OrganizationID, in ids.RegionID) ([]region.Image, error)
}

// lookups asks region, in parallel, for what one instance refers to.
type lookups struct {
	references References
	credential principal.Credential
	scope      tenancy.Scope
	spec       *compute.InstanceSpec
	homes      *homes

	group *errgroup.Group
	mutex sync.Mutex
	facts facts
}

// gatherForCreate looks up every reference of a new instance. It fails when
// region gives no answer; references that are not visible are in the facts.
func gatherForCreate(ctx context.Context, references References, homes *homes, caller principal.Caller, scope tenancy.Scope, spec *compute.InstanceSpec) (facts, error) {
	l := &lookups{references: references, credential: caller.Credential(), scope: scope, spec: spec, homes: homes}
	group, ctx := errgroup.WithContext(ctx)
	l.group = group
	var early facts
	remembered := homes.of(scope, spec.NetworkID)
	if remembered != "" {
		l.sizes(ctx, remembered, &early)
	}
	group.Go(func() error { return l.network(ctx, remembered) })
	l.attachments(ctx)
	err := group.Wait()
	if remembered != "" && remembered == l.facts.region {
		// Only now: who may not have the network must not be able to tell that it
		// was remembered.
		l.facts.flavor, l.facts.image = early.flavor, early.image
	}
	return l.facts, err
}

// gatherForUpdate looks up what a changed spec refers to. A flavor and image that
// both stay are in use already, visible or not; the network stays as well, and
// is read for whether the caller has a say in it.
func gatherForUpdate(ctx context.Context, references References, caller principal.Caller, scope tenancy.Scope, spec *compute.InstanceSpec, stored *compute.Instance) (facts, error) {
	l := &lookups{references: references, credential: caller.Credential(), scope: scope, spec: spec}
	l.facts.region = stored.Status.RegionID
	group, ctx := errgroup.WithContext(ctx)
	l.group = group
	group.Go(func() error { return confirmCaller(ctx, references, stored, caller) })
	if spec.FlavorID != stored.Spec.FlavorID || spec.ImageID != stored.Spec.ImageID {
		l.sizes(ctx, stored.Status.RegionID, &l.facts)
	}
	l.attachments(ctx)
	err := group.Wait()
	if spec.FlavorID == stored.Spec.FlavorID && l.facts.flavor.found == nil {
		// Retired since: region builds the other image on it all the same.
		l.facts.flavor.asked = false
	}
	return l.facts, err
}

// network goes on with flavor and image, which are those of its region, unless
// they were asked for already because that was remembered.
func (l *lookups) network(ctx context.Context, remembered ids.RegionID) error {
	network, err := visible(l.references.Network(ctx, l.credential, l.spec.NetworkID))
	if err != nil {
		return err
	}
	l.facts.network = lookup[region.Network]{asked: true, found: network}
	if !owned(network, networkOwner, l.scope) {
		return l.sizesAnywhere(ctx)
	}
	l.facts.region = network.Status.RegionID
	if network.Status.RegionID != remembered {
		l.homes.remember(l.scope, l.spec.NetworkID, network.Status.RegionID)
		l.sizes(ctx, network.Status.RegionID, &l.facts)
	}
	return nil
}

// sizesAnywhere looks for flavor and image in every region of the organization,
// where no network says which one counts: what is in none of them is wrong
// whatever network comes next, and the client learns of it now. It is the same
// for a network that is missing and for one that is somebody else's.
func (l *lookups) sizesAnywhere(ctx context.Context) error {
	regions, err := visibleList(l.references.Regions(ctx, l.credential, l.scope.Organization))
	if err != nil {
		return err
	}
	for i := range regions {
		l.sizes(ctx, regions[i].ID(), &l.facts)
	}
	return nil
}

// sizes looks for flavor and image in one region, and notes them in the facts.
func (l *lookups) sizes(ctx context.Context, in ids.RegionID, into *facts) {
	l.group.Go(func() error {
		flavors, err := visibleList(l.references.Flavors(ctx, l.credential, l.scope.Organization, in))
		if err != nil {
			return err
		}
		at := slices.IndexFunc(flavors, func(f region.Flavor) bool { return f.ID() == l.spec.FlavorID })
		record(l, &into.flavor, flavors, at)
		return nil
	})
	l.group.Go(func() error {
		images, err := visibleList(l.references.Images(ctx, l.credential, l.scope.Organization, in))
		if err != nil {
			return err
		}
		at := slices.IndexFunc(images, func(i region.Image) bool { return i.ID() == l.spec.ImageID })
		record(l, &into.image, images, at)
		return nil
	})
}

// attachments looks up security groups and the certificate authority.
func (l *lookups) attachments(ctx context.Context) {
	if id := l.spec.SSHCertificateAuthorityID; id != "" {
		l.group.Go(func() error {
			authority, err := visible(l.references.SSHCertificateAuthority(ctx, l.credential, id))
			l.facts.authority = lookup[region.SSHCertificateAuthority]{asked: err == nil, found: authority}
			return err
		})
	}
	l.facts.securityGroups = map[ids.SecurityGroupID]lookup[region.SecurityGroup]{}
	for _, id := range l.spec.Networking.SecurityGroupIDs {
		l.group.Go(func() error {
			group, err := visible(l.references.SecurityGroup(ctx, l.credential, id))
			l.mutex.Lock()
			defer l.mutex.Unlock()
			l.facts.securityGroups[id] = lookup[region.SecurityGroup]{asked: err == nil, found: group}
			return err
		})
	}
}

// record notes what was found in one region; another may have been asked before.
func record[T any](l *lookups, into *lookup[T], list []T, at int) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	into.asked = true
	if at >= 0 {
		into.found = &list[at]
	}
}

// visible turns the error of something the caller cannot see into nothing.
func visible[T any](found *T, err error) (*T, error) {
	if unikorn.IsNotVisible(err) {
		return nil, nil
	}
	return found, err
}

// visibleList is a list of nothing for a caller who may see none of it.
func visibleList[T any](found []T, err error) ([]T, error) {
	if unikorn.IsNotVisible(err) {
		return nil, nil
	}
	return found, err
}
