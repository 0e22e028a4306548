// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/computetest"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
)

func table(t *testing.T, object, options runtime.Object) *metav1.Table {
	t.Helper()
	got, err := tableConvertor{}.ConvertToTable(t.Context(), object, options)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func ready(status metav1.ConditionStatus, reason string) []metav1.Condition {
	return []metav1.Condition{{Type: v1beta1.ConditionReady, Status: status, Reason: reason}}
}

func TestColumns(t *testing.T) {
	var narrow, wide []string
	for _, column := range table(t, &compute.InstanceList{}, nil).ColumnDefinitions {
		if column.Description == "" {
			t.Errorf("column %s is not described", column.Name)
		}
		name := strings.ToUpper(column.Name)
		if column.Priority == 0 {
			narrow = append(narrow, name)
		} else {
			wide = append(wide, name)
		}
	}
	if diff := cmp.Diff([]string{"NAME", "POWER", "STATUS", "PRIVATE-IP", "PUBLIC-IP", "FLAVOR", "AGE"}, narrow); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"IMAGE", "NETWORK", "REGION", "ID"}, wide); diff != "" {
		t.Errorf("wide columns (-want +got):\n%s", diff)
	}
}

func TestCells(t *testing.T) {
	ids := []any{string(computetest.Image), string(computetest.Network), string(computetest.Region), string(computetest.ObjectName)}
	tests := map[string]struct {
		instance *compute.Instance
		want     []any
	}{
		"running": {
			computetest.Existing(func(instance *compute.Instance) {
				instance.CreationTimestamp = metav1.Time{}
				instance.Status.PowerState = compute.PowerStateRunning
				instance.Status.PrivateIP = "10.1.0.5"
				instance.Status.PublicIP = "203.0.113.5"
				instance.Status.Conditions = ready(metav1.ConditionTrue, "Running")
			}),
			append([]any{"web-1", "Running", "Ready", "10.1.0.5", "203.0.113.5", string(computetest.Flavor), "<unknown>"}, ids...),
		},
		"held back": {
			computetest.Existing(func(instance *compute.Instance) {
				instance.CreationTimestamp = metav1.Time{}
				instance.Status.Conditions = ready(metav1.ConditionFalse, "QuotaExceeded")
			}),
			append([]any{"web-1", none, "QuotaExceeded", none, none, string(computetest.Flavor), "<unknown>"}, ids...),
		},
		"without any status": {
			computetest.Instance(),
			[]any{
				"web-1", none, none, none, none, string(computetest.Flavor), "<unknown>",
				string(computetest.Image), string(computetest.Network), none, none,
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := table(t, test.instance, &metav1.TableOptions{})
			if diff := cmp.Diff(test.want, got.Rows[0].Cells); diff != "" {
				t.Errorf("cells (-want +got):\n%s", diff)
			}
			if len(got.Rows[0].Cells) != len(got.ColumnDefinitions) {
				t.Errorf("%d cells under %d columns", len(got.Rows[0].Cells), len(got.ColumnDefinitions))
			}
			if got.ResourceVersion != test.instance.ResourceVersion {
				t.Errorf("resource version %q, want %q", got.ResourceVersion, test.instance.ResourceVersion)
			}
			if got.Rows[0].Object.Object != test.instance {
				t.Error("the row does not carry the instance")
			}
		})
	}
}

func TestListAsTable(t *testing.T) {
	left := int64(7)
	list := &compute.InstanceList{
		ListMeta: metav1.ListMeta{ResourceVersion: "12", Continue: "more", RemainingItemCount: &left},
		Items: []compute.Instance{
			*computetest.Existing(),
			*computetest.Existing(func(instance *compute.Instance) { instance.Name = "web-2" }),
		},
	}
	got := table(t, list, &metav1.TableOptions{})
	if diff := cmp.Diff(list.ListMeta, got.ListMeta); diff != "" {
		t.Errorf("list metadata (-want +got):\n%s", diff)
	}
	if names := []any{got.Rows[0].Cells[0], got.Rows[1].Cells[0]}; !cmp.Equal(names, []any{"web-1", "web-2"}) {
		t.Errorf("rows of %v", names)
	}
	for i, row := range got.Rows {
		if row.Object.Object != &list.Items[i] {
			t.Errorf("row %d does not carry its instance", i)
		}
	}
}

func TestEmptyListIsATable(t *testing.T) {
	if got := table(t, &compute.InstanceList{}, nil); got.Rows == nil {
		t.Error("rows are null, want none")
	}
}

func TestTableWithoutHeaders(t *testing.T) {
	got := table(t, computetest.Existing(), &metav1.TableOptions{NoHeaders: true})
	if got.ColumnDefinitions != nil {
		t.Errorf("columns %v, want none", got.ColumnDefinitions)
	}
	if len(got.Rows) != 1 {
		t.Errorf("%d rows, want 1", len(got.Rows))
	}
}

func TestNoTableOfOtherThings(t *testing.T) {
	if _, err := (tableConvertor{}).ConvertToTable(t.Context(), &metav1.Status{}, nil); err == nil {
		t.Error("a Status was made a table of instances")
	}
}
