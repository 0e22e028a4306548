// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"slices"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// checkDoubts looks for what the spec refers to after a create whose answer was
// lost: a region that is asked to make a server of something that does not exist
// drops the connection. docs/reference/wire.md, "Errors".
func (r *Reconciler) checkDoubts(ctx context.Context, s *subject) error {
	if s.note.createOpen.IsZero() {
		return nil
	}
	return r.checkReferences(ctx, s)
}

// checkReferences wants everything that the spec refers to, besides network and
// flavor, to be there.
func (r *Reconciler) checkReferences(ctx context.Context, s *subject) error {
	for _, check := range []func(context.Context, *subject) error{r.checkImage, r.checkAuthority, r.checkGroups} {
		if err := check(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reconciler) checkImage(ctx context.Context, s *subject) error {
	images, err := r.region.Images(ctx, r.credential(s), s.network.Organization, s.network.Region)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(images, func(image region.Image) bool { return same(image.ID(), s.object.Spec.ImageID) }) {
		return hold(v1alpha1.ReasonDependencyNotFound, "The image does not exist in the region, or is not ready.")
	}
	return nil
}

func (r *Reconciler) checkAuthority(ctx context.Context, s *subject) error {
	id := s.object.Spec.SSHCertificateAuthorityID
	if id == "" {
		return nil
	}
	_, err := r.region.SSHCertificateAuthority(ctx, r.credential(s), id)
	if unikorn.IsNotFound(err) {
		return hold(v1alpha1.ReasonDependencyNotFound, "The SSH certificate authority does not exist.")
	}
	return err
}

func (r *Reconciler) checkGroups(ctx context.Context, s *subject) error {
	networking := s.object.Spec.Networking
	if networking == nil {
		return nil
	}
	for _, id := range networking.SecurityGroupIDs {
		_, err := r.region.SecurityGroup(ctx, r.credential(s), id)
		if unikorn.IsNotFound(err) {
			return hold(v1alpha1.ReasonDependencyNotFound, "A security group does not exist.")
		}
		if err != nil {
			return err
		}
	}
	return nil
}
