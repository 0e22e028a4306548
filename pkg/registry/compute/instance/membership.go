// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
)

// networkReader reads a network as the credential's holder sees it.
type networkReader interface {
	Network(ctx context.Context, credential principal.Credential, id ids.NetworkID) (*region.Network, error)
}

// confirmCaller has region agree that the caller, whom the cluster's RBAC lets
// change or operate the instance, belongs to its project: identity cannot be
// asked what people may do with instances, but the instance's network is read
// with their rights.
func confirmCaller(ctx context.Context, networks networkReader, instance *compute.Instance, caller principal.Caller) error {
	network, err := visible(networks.Network(ctx, caller.Credential(), instance.Spec.NetworkID))
	if err != nil {
		return err
	}
	if owned(network, networkOwner, scopeOf(instance)) {
		return nil
	}
	return apierrors.NewForbidden(compute.Resource("instances"), instance.Name,
		errors.New("the platform does not let you use the network of the instance"))
}
