// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/client-go/tools/cache"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/computetest"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/quota"
	"github.com/unikorn-cloud/instance-apiserver/pkg/tenancy"
)

// ada is a person of the organization.
const ada = "oidc:ada@acme.example"

// desk is REST with everything around it replaced, and one person before it.
type desk struct {
	*REST

	platform *platform
	memory   *memory
	// owner and unbound are what is said of the namespace.
	owner   tenancy.Scope
	unbound error
	// taken are the object names in use, asked the names asked for.
	taken map[string]bool
	asked []string

	warnings []string
	admitted int
}

var (
	_ Tenancy          = &desk{}
	_ StoredNames      = &desk{}
	_ warning.Recorder = &desk{}
)

func newDesk(t *testing.T, stored ...*compute.Instance) *desk {
	t.Helper()
	scheme := newScheme()
	d := &desk{platform: newPlatform(), memory: newMemory(stored...), owner: home, taken: map[string]bool{}}
	options := generic.RESTOptions{
		StorageConfig: &storagebackend.ConfigForResource{
			Config:        storagebackend.Config{Codec: serializer.NewCodecFactory(scheme).LegacyCodec(v1beta1.SchemeGroupVersion)},
			GroupResource: compute.Resource("instances"),
		},
		ResourcePrefix: "instances",
		Decorator: func(*storagebackend.ConfigForResource, string, func(runtime.Object) (string, error), func() runtime.Object, func() runtime.Object, storage.AttrFunc, storage.IndexerFuncs, *cache.Indexers) (storage.Interface, factory.DestroyFunc, error) {
			return d.memory, func() {}, nil
		},
	}
	served, err := NewREST(scheme, options, Checks{
		Tenancy:    d,
		Callers:    principal.Resolver{UsernamePrefix: "oidc:"},
		References: d.platform,
		Names:      d,
	})
	if err != nil {
		t.Fatal(err)
	}
	d.REST = served
	return d
}

func (d *desk) Scope(_ context.Context, namespace string) (tenancy.Scope, error) {
	if namespace != computetest.Namespace {
		return tenancy.Scope{}, fmt.Errorf("asked for namespace %q", namespace)
	}
	return d.owner, d.unbound
}

func (d *desk) Exists(_ context.Context, _, name string) (bool, error) {
	d.asked = append(d.asked, name)
	return d.taken[name], nil
}

func (d *desk) AddWarning(_, text string) { d.warnings = append(d.warnings, text) }

func (d *desk) admit(context.Context, runtime.Object) error {
	d.admitted++
	return nil
}

func (d *desk) create(t *testing.T, instance *compute.Instance, dryRun ...string) (*compute.Instance, error) {
	return d.createAs(t, ada, instance, dryRun...)
}

func (d *desk) createAs(t *testing.T, name string, instance *compute.Instance, dryRun ...string) (*compute.Instance, error) {
	t.Helper()
	ctx := warning.WithWarningRecorder(requestBy(t, name), d)
	made, err := d.Create(ctx, instance, d.admit, &metav1.CreateOptions{DryRun: dryRun})
	if err != nil {
		return nil, err
	}
	return made.(*compute.Instance), nil
}

// update sends what is stored, changed by the edit.
func (d *desk) update(t *testing.T, edit func(*compute.Instance), dryRun ...string) (*compute.Instance, error) {
	t.Helper()
	instance := computetest.Existing(edit)
	ctx := warning.WithWarningRecorder(requestBy(t, ada), d)
	changed, _, err := d.Update(ctx, instance.Name, rest.DefaultUpdatedObjectInfo(instance),
		rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{DryRun: dryRun})
	if err != nil {
		return nil, err
	}
	return changed.(*compute.Instance), nil
}

// memory is the storage below the registry's Store. It keeps what a write costs
// by the context it came with. Methods that no write needs are not there.
type memory struct {
	storage.Interface

	objects map[string]*compute.Instance
	// occupied is how many creates yet to come meet a name that is taken.
	occupied int
	// collides says that what is to be created meets the name on the network.
	collides bool
	// meanwhile, if set, is a change by somebody else that the next update meets.
	meanwhile func(*compute.Instance)
	charges   []quota.Charge
}

func newMemory(stored ...*compute.Instance) *memory {
	m := &memory{objects: map[string]*compute.Instance{}}
	for _, instance := range stored {
		m.objects["/instances/"+instance.Namespace+"/"+instance.Name] = instance
	}
	return m
}

func (*memory) Versioner() storage.Versioner { return storage.APIObjectVersioner{} }

func (m *memory) Get(_ context.Context, key string, options storage.GetOptions, out runtime.Object) error {
	found, ok := m.objects[key]
	if !ok && !options.IgnoreNotFound {
		return storage.NewKeyNotFoundError(key, 0)
	}
	if ok {
		found.DeepCopyInto(out.(*compute.Instance))
	}
	return nil
}

func (m *memory) Create(ctx context.Context, key string, obj, out runtime.Object, _ uint64) error {
	if m.occupied > 0 || m.objects[key] != nil {
		m.occupied--
		return storage.NewKeyExistsError(key, 0)
	}
	if m.collides {
		charge := &findingsFrom(ctx).charge
		m.charges = append(m.charges, *charge)
		charge.Taken = string(computetest.ObjectName)
		return NameTaken(obj.(*compute.Instance))
	}
	return m.put(ctx, key, obj, out)
}

func (m *memory) GuaranteedUpdate(ctx context.Context, key string, out runtime.Object, ignoreNotFound bool, preconditions *storage.Preconditions, change storage.UpdateFunc, _ runtime.Object) error {
	current := &compute.Instance{}
	if err := m.Get(ctx, key, storage.GetOptions{IgnoreNotFound: ignoreNotFound}, current); err != nil {
		return err
	}
	if err := preconditions.Check(key, current); err != nil {
		return err
	}
	version, err := m.Versioner().ObjectResourceVersion(current)
	if err != nil {
		return err
	}
	changed, _, err := change(current, storage.ResponseMeta{ResourceVersion: version})
	if err != nil {
		return err
	}
	if meanwhile := m.meanwhile; meanwhile != nil {
		m.meanwhile = nil
		meanwhile(m.objects[key])
		return m.GuaranteedUpdate(ctx, key, out, ignoreNotFound, preconditions, change, nil)
	}
	return m.put(ctx, key, changed, out)
}

func (m *memory) put(ctx context.Context, key string, obj, out runtime.Object) error {
	charge := findingsFrom(ctx).charge
	if charge.Due {
		if err := charge.Confirm(ctx); err != nil {
			return err
		}
	}
	m.charges = append(m.charges, charge)
	kept := obj.DeepCopyObject().(*compute.Instance)
	kept.ResourceVersion = strconv.Itoa(100 + len(m.charges))
	m.objects[key] = kept
	kept.DeepCopyInto(out.(*compute.Instance))
	return nil
}

// expectCharges compares what was written with what it should cost, one entry a
// write.
func expectCharges(t *testing.T, d *desk, want ...quota.Charge) {
	t.Helper()
	if diff := cmp.Diff(want, d.memory.charges, cmpopts.IgnoreFields(quota.Charge{}, "Confirm")); diff != "" {
		t.Errorf("charges (-want +got):\n%s", diff)
	}
}

func expectNotWritten(t *testing.T, d *desk) {
	t.Helper()
	if len(d.memory.charges) > 0 {
		t.Errorf("%d writes, want none", len(d.memory.charges))
	}
}

// statusCauses are the causes in an API status as "Type path".
func statusCauses(t *testing.T, err error) []string {
	t.Helper()
	status, ok := err.(apierrors.APIStatus)
	if !ok {
		t.Fatalf("%v is no API status", err)
	}
	var found []string
	for _, cause := range status.Status().Details.Causes {
		found = append(found, string(cause.Type)+" "+cause.Field)
	}
	return found
}
