// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metatable "k8s.io/apimachinery/pkg/api/meta/table"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
)

var _ rest.TableConvertor = tableConvertor{}

// none stands where there is nothing to show, as in kubectl's own tables.
const none = "<none>"

var columns = []metav1.TableColumnDefinition{
	{Name: "Name", Type: "string", Format: "name", Description: "Name of the instance in its namespace."},
	{Name: "Power", Type: "string", Description: "Power state of the machine."},
	{Name: "Status", Type: "string", Description: "Ready, or the reason why the instance is not."},
	{Name: "Private-IP", Type: "string", Description: "Address on the network."},
	{Name: "Public-IP", Type: "string", Description: "Public address."},
	{Name: "Flavor", Type: "string", Description: "Flavor, the size of the machine."},
	{Name: "Age", Type: "string", Description: "Time since creation."},
	{Name: "Image", Type: "string", Priority: 1, Description: "Image the machine boots from."},
	{Name: "Network", Type: "string", Priority: 1, Description: "Network the machine is on."},
	{Name: "Region", Type: "string", Priority: 1, Description: "Region of the network."},
	{Name: "ID", Type: "string", Priority: 1, Description: "Platform-wide id of the instance."},
}

// tableConvertor renders instances as kubectl get shows them.
type tableConvertor struct{}

// ConvertToTable implements rest.TableConvertor.
func (tableConvertor) ConvertToTable(_ context.Context, object, options runtime.Object) (*metav1.Table, error) {
	table := &metav1.Table{}
	if opts, ok := options.(*metav1.TableOptions); !ok || opts == nil || !opts.NoHeaders {
		table.ColumnDefinitions = columns
	}
	switch object := object.(type) {
	case *compute.InstanceList:
		table.ResourceVersion = object.ResourceVersion
		table.Continue = object.Continue
		table.RemainingItemCount = object.RemainingItemCount
		table.Rows = make([]metav1.TableRow, 0, len(object.Items))
		for i := range object.Items {
			table.Rows = append(table.Rows, rowOf(&object.Items[i]))
		}
	case *compute.Instance:
		table.ResourceVersion = object.ResourceVersion
		table.Rows = []metav1.TableRow{rowOf(object)}
	default:
		return nil, fmt.Errorf("no table for %T", object)
	}
	return table, nil
}

func rowOf(instance *compute.Instance) metav1.TableRow {
	return metav1.TableRow{
		Cells: []any{
			instance.Name,
			orNone(string(instance.Status.PowerState)),
			summary(instance),
			orNone(instance.Status.PrivateIP),
			orNone(instance.Status.PublicIP),
			string(instance.Spec.FlavorID),
			metatable.ConvertToHumanReadableDateType(instance.CreationTimestamp),
			string(instance.Spec.ImageID),
			string(instance.Spec.NetworkID),
			orNone(string(instance.Status.RegionID)),
			orNone(string(instance.Status.InstanceID)),
		},
		Object: runtime.RawExtension{Object: instance},
	}
}

func summary(instance *compute.Instance) string {
	ready := meta.FindStatusCondition(instance.Status.Conditions, v1beta1.ConditionReady)
	switch {
	case ready == nil:
		return none
	case ready.Status == metav1.ConditionTrue:
		return ready.Type
	default:
		return ready.Reason
	}
}

func orNone(value string) string {
	if value == "" {
		return none
	}
	return value
}
