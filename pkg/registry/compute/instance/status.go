// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
)

var (
	_ rest.Getter         = &StatusREST{}
	_ rest.TableConvertor = &StatusREST{}
)

// StatusREST serves instances/status. It is read-only: the status has one
// writer, the controller, and that writes what is stored.
type StatusREST struct {
	instances *REST
}

// New implements rest.Storage.
func (*StatusREST) New() runtime.Object { return &compute.Instance{} }

// Destroy implements rest.Storage. The instances are not its own.
func (*StatusREST) Destroy() {}

// Get implements rest.Getter.
func (r *StatusREST) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return r.instances.Get(ctx, name, options)
}

// ConvertToTable implements rest.TableConvertor.
func (r *StatusREST) ConvertToTable(ctx context.Context, object, options runtime.Object) (*metav1.Table, error) {
	return r.instances.ConvertToTable(ctx, object, options)
}
