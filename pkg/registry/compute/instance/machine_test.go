// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/computetest"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/tenancy"
)

// everyRequest makes each request that there is and checks its outcome.
func everyRequest(t *testing.T, prepare func(*booth), check func(t *testing.T, b *booth, subresource string, err error)) {
	t.Helper()
	run := func(name, subresource string, request func(t *testing.T, b *booth) error) {
		t.Run(name, func(t *testing.T) {
			b := newBooth(t)
			prepare(b)
			check(t, b, subresource, request(t, b))
		})
	}
	for subresource, object := range everyCreate {
		run("create "+subresource, subresource, func(t *testing.T, b *booth) error {
			_, err := post(t, b, subresource, object.DeepCopyObject())
			return err
		})
	}
	run("get power", "", func(t *testing.T, b *booth) error {
		_, err := b.Power.Get(b.request(t, "power"), computetest.Name, &metav1.GetOptions{})
		return err
	})
	run("get log", "", func(t *testing.T, b *booth) error {
		_, err := b.Log.Get(b.request(t, "log"), computetest.Name, &compute.InstanceLogOptions{})
		return err
	})
}

func TestMachineIsFoundByAllFiveFilters(t *testing.T) {
	want := region.ServerSelector{
		NetworkSelector: region.NetworkSelector{
			Organization: computetest.Organization, Project: computetest.Project,
			Region: computetest.Region, Network: computetest.Network,
		},
		Instance: computetest.ObjectName,
	}
	everyRequest(t, func(*booth) {}, func(t *testing.T, b *booth, _ string, err error) {
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]region.ServerSelector{want}, b.hall.selectors); diff != "" {
			t.Errorf("lists (-want +got):\n%s", diff)
		}
		expectCalls(t, b, b.hall.calls...)
	})
}

func TestMachineThatDoesNotShowYetIsLookedForAgain(t *testing.T) {
	everyRequest(t, func(b *booth) {
		b.hall.shown = append([][]region.Server{{}, {}}, b.hall.shown...)
	}, func(t *testing.T, b *booth, _ string, err error) {
		if err != nil {
			t.Fatal(err)
		}
		if len(b.hall.selectors) != 3 {
			t.Errorf("%d lists, want 3", len(b.hall.selectors))
		}
	})
}

func TestNotExactlyOneMachine(t *testing.T) {
	for count, shown := range map[string][]region.Server{
		"0": {},
		"2": {server(region.PowerRunning), server(region.PowerRunning)},
	} {
		everyRequest(t, func(b *booth) { b.hall.shown = [][]region.Server{shown} }, func(t *testing.T, b *booth, _ string, err error) {
			expectReason(t, err, metav1.StatusReasonInternalError)
			cause, ok := apierrors.StatusCause(err, v1beta1.CauseConsistencyError)
			if !ok || !strings.HasPrefix(cause.Message, count+" servers") {
				t.Errorf("cause %v, want a ConsistencyError with %s", cause, count)
			}
			expectCalls(t, b)
		})
	}
}

func TestErrorsOfRegionPassThrough(t *testing.T) {
	everyRequest(t, func(b *booth) { b.hall.failures["Servers"] = errDown }, func(t *testing.T, b *booth, _ string, err error) {
		if !errors.Is(err, errDown) {
			t.Errorf("error %v, want region's own", err)
		}
		if len(b.hall.selectors) != 1 {
			t.Errorf("asked %d times, want once", len(b.hall.selectors))
		}
		expectCalls(t, b)
	})
}

func TestMissingInstance(t *testing.T) {
	everyRequest(t, func(b *booth) { clear(b.desk.memory.objects) }, func(t *testing.T, b *booth, _ string, err error) {
		expectReason(t, err, metav1.StatusReasonNotFound)
		if len(b.hall.selectors) > 0 {
			t.Error("region was asked")
		}
	})
}

func TestNamespaceOfAnotherProject(t *testing.T) {
	for name, prepare := range map[string]func(*booth){
		"bound otherwise": func(b *booth) {
			b.desk.owner = tenancy.Scope{Organization: computetest.Organization, Project: computetest.OtherProject}
		},
		"not bound": func(b *booth) {
			b.desk.unbound = &tenancy.UnboundError{Namespace: computetest.Namespace, Reason: "is not bound"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			everyRequest(t, prepare, func(t *testing.T, b *booth, _ string, err error) {
				expectReason(t, err, metav1.StatusReasonForbidden)
				if len(b.hall.selectors) > 0 {
					t.Error("region was asked")
				}
			})
		})
	}
}

// What region says of the network decides, before anything about the machine is
// told, and only for requests that do something.
func TestSecondLock(t *testing.T) {
	tests := map[string]func(*booth){
		"not visible": func(b *booth) { b.hall.network, b.hall.networkErr = nil, notVisible(http.StatusForbidden, true) },
		"missing":     func(b *booth) { b.hall.network, b.hall.networkErr = nil, notVisible(http.StatusNotFound, true) },
		"of another project": func(b *booth) {
			b.hall.network = network(tenancy.Scope{Organization: computetest.Organization, Project: computetest.OtherProject}, computetest.Network)
		},
		"and there is no server": func(b *booth) {
			b.hall.network, b.hall.networkErr = nil, notVisible(http.StatusForbidden, true)
			b.hall.shown = [][]region.Server{{}}
		},
	}
	for name, prepare := range tests {
		t.Run(name, func(t *testing.T) {
			for subresource, object := range everyCreate {
				t.Run(subresource, func(t *testing.T) {
					b := newBooth(t)
					prepare(b)
					_, err := post(t, b, subresource, object.DeepCopyObject())
					expectReason(t, err, metav1.StatusReasonForbidden)
					expectCalls(t, b)
					if len(b.admitted) > 0 {
						t.Error("admission was asked")
					}
				})
			}
		})
	}
	t.Run("region down", func(t *testing.T) {
		b := newBooth(t)
		b.hall.network, b.hall.networkErr = nil, errDown
		if _, err := post(t, b, "console", everyCreate["console"]); !errors.Is(err, errDown) {
			t.Errorf("error %v, want region's own", err)
		}
		expectCalls(t, b)
	})
	t.Run("reading needs none", func(t *testing.T) {
		b := newBooth(t)
		b.hall.networkErr = notVisible(http.StatusForbidden, true)
		if _, err := b.Power.Get(b.request(t, "power"), computetest.Name, &metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
		if _, err := b.Log.Get(b.request(t, "log"), computetest.Name, &compute.InstanceLogOptions{}); err != nil {
			t.Error(err)
		}
	})
}

func TestAdmissionSeesEveryCreate(t *testing.T) {
	for subresource, object := range everyCreate {
		t.Run(subresource, func(t *testing.T) {
			b := newBooth(t)
			b.refuses = errors.New("not on Fridays")
			_, err := post(t, b, subresource, object.DeepCopyObject())
			if !errors.Is(err, b.refuses) {
				t.Errorf("error %v, want that of admission", err)
			}
			if diff := cmp.Diff([]runtime.Object{object}, b.admitted); diff != "" {
				t.Errorf("admitted (-want +got):\n%s", diff)
			}
			expectCalls(t, b)
		})
	}
}

// A dry run has all the answers of a wet one but those that region gives on
// doing it.
func TestDryRunOperatesNothing(t *testing.T) {
	reads := map[string][]string{"sshkey": {"SSHKey"}}
	for subresource, object := range everyCreate {
		t.Run(subresource, func(t *testing.T) {
			b := newBooth(t)
			made, err := post(t, b, subresource, object.DeepCopyObject(), metav1.DryRunAll)
			if err != nil {
				t.Fatal(err)
			}
			expectCalls(t, b, reads[subresource]...)
			if len(b.admitted) != 1 {
				t.Errorf("admission was asked %d times, want once", len(b.admitted))
			}
			var empty bool
			switch made := made.(type) {
			case *compute.InstancePower:
				empty = made.Status.PowerState == compute.PowerStateRunning
			case *compute.InstanceConsole:
				empty = made.Status == compute.InstanceConsoleStatus{}
			case *compute.InstanceSnapshot:
				empty = made.Status == compute.InstanceSnapshotStatus{}
			case *compute.InstanceSSHKey:
				empty = made.Status == compute.InstanceSSHKeyStatus{}
			}
			if !empty {
				t.Errorf("answers more than is known: %+v", made)
			}
		})
	}
}

func TestRequestNamesItsInstance(t *testing.T) {
	for subresource, request := range map[string]runtime.Object{
		"power":   &compute.InstancePower{ObjectMeta: metav1.ObjectMeta{Name: "web-2"}, Spec: compute.InstancePowerSpec{Action: compute.PowerActionStop}},
		"console": &compute.InstanceConsole{ObjectMeta: metav1.ObjectMeta{Name: "web-2"}},
		"sshkey":  &compute.InstanceSSHKey{ObjectMeta: metav1.ObjectMeta{Name: "web-2"}},
	} {
		b := newBooth(t)
		_, err := post(t, b, subresource, request)
		expectReason(t, err, metav1.StatusReasonInvalid)
		if diff := cmp.Diff([]string{"FieldValueInvalid metadata.name"}, statusCauses(t, err)); diff != "" {
			t.Errorf("%s: causes (-want +got):\n%s", subresource, diff)
		}
		expectCalls(t, b)
	}
}

func TestStatusIsTheInstance(t *testing.T) {
	b := newBooth(t)
	got, err := b.Status.Get(b.request(t, "status"), computetest.Name, &metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(computetest.Existing(), got); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	table, err := b.Status.ConvertToTable(t.Context(), got, nil)
	if err != nil || len(table.Rows) != 1 {
		t.Errorf("table %v, %v", table, err)
	}
}

func TestRequestForWhatIsNotThereAnyMore(t *testing.T) {
	existing := computetest.Existing()
	for subresource, request := range everyCreate {
		for name, test := range map[string]struct {
			uid     types.UID
			version string
			refused bool
		}{
			"the same":        {uid: existing.UID, version: existing.ResourceVersion},
			"another uid":     {uid: "0f0f0f0f-0000-4000-8000-000000000000", refused: true},
			"another version": {version: existing.ResourceVersion + "0", refused: true},
		} {
			t.Run(subresource+", "+name, func(t *testing.T) {
				b := newBooth(t)
				about := request.DeepCopyObject()
				metadata, err := meta.Accessor(about)
				if err != nil {
					t.Fatal(err)
				}
				metadata.SetUID(test.uid)
				metadata.SetResourceVersion(test.version)
				_, err = post(t, b, subresource, about)
				if !test.refused {
					if err != nil {
						t.Error(err)
					}
					return
				}
				expectReason(t, err, metav1.StatusReasonConflict)
				expectCalls(t, b)
				if len(b.admitted) > 0 {
					t.Error("it was admitted")
				}
			})
		}
	}
}
