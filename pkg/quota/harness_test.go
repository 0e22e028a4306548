// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/computetest"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/identity"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/storage/crbacked"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

var (
	ledger = NewLedger(DefaultAddressKind, "7c0ffee0")
	ada    = principal.Principal{
		OrganizationID:  computetest.Organization,
		OrganizationIDs: []ids.OrganizationID{computetest.OtherOrganization, computetest.Organization},
		ProjectID:       computetest.Project,
		Type:            principal.TypeUser,
		Actor:           "ada@acme.example",
	}

	errDown   = &unikorn.Error{Service: unikorn.IdentityService, Operation: "Allocations", Kind: unikorn.Unavailable}
	errServer = &unikorn.Error{
		Service: unikorn.IdentityService, Operation: "Allocations", Kind: unikorn.Unavailable,
		StatusCode: http.StatusInternalServerError, Code: unikorn.ServerError,
	}
	errMissing = &unikorn.Error{
		Service: unikorn.IdentityService, Operation: "Allocations", Kind: unikorn.Refused,
		StatusCode: http.StatusNotFound, Code: unikorn.NotFound,
	}
)

// diary is what happened, in order.
type diary struct {
	mutex  sync.Mutex
	events []string
}

func (d *diary) note(event string) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.events = append(d.events, event)
}

func (d *diary) read() []string {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return slices.Clone(d.events)
}

var (
	_ Allocations = &bank{}
	_ Releaser    = &bank{}
)

// bank is identity with one allocation at the most. It checks that calls come
// from the service, about the project that pays, with the context alive.
type bank struct {
	t *testing.T
	*diary

	held *identity.AllocationSpec
	// failures are the answers to the next calls of a method, nil for success.
	failures map[string][]error
	// deletions, if set, receives one value for each answered deletion.
	deletions chan struct{}
}

func newBank(t *testing.T, held ...Cost) *bank {
	b := &bank{t: t, diary: &diary{}, failures: map[string][]error{}}
	for _, cost := range held {
		b.held = &ledgerAllocation(cost).Spec
	}
	return b
}

func ledgerAllocation(cost Cost) *identity.AllocationWrite {
	allocation := ledger.Allocation(computetest.ObjectName, cost)
	return &allocation
}

func (b *bank) answer(ctx context.Context, credential principal.Credential, organization ids.OrganizationID, project ids.ProjectID, method string) error {
	b.note(method)
	if err := ctx.Err(); err != nil {
		b.t.Errorf("%s: the call is over before it begins: %v", method, err)
	}
	if organization != ada.OrganizationID || project != ada.ProjectID {
		b.t.Errorf("%s: about %s of %s", method, project, organization)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://identity.example", http.NoBody)
	if err != nil {
		return err
	}
	if err := credential(ctx, request); err != nil {
		return err
	}
	if request.Header.Get("X-Principal") == "" || request.Header.Get("X-Impersonate") != "" {
		b.t.Errorf("%s: not by the service on behalf of somebody", method)
	}
	if next := b.failures[method]; len(next) > 0 {
		b.failures[method] = next[1:]
		return next[0]
	}
	return nil
}

func (b *bank) CreateAllocation(ctx context.Context, credential principal.Credential, organization ids.OrganizationID, project ids.ProjectID, allocation identity.AllocationWrite) (*identity.Allocation, error) {
	if err := b.answer(ctx, credential, organization, project, "charge"); err != nil {
		return nil, err
	}
	b.held = &allocation.Spec
	return b.show(), nil
}

func (b *bank) Allocation(ctx context.Context, credential principal.Credential, organization ids.OrganizationID, project ids.ProjectID, id ids.AllocationID) (*identity.Allocation, error) {
	if err := b.answer(ctx, credential, organization, project, "read "+string(id)); err != nil {
		return nil, err
	}
	if b.held == nil {
		return nil, errMissing
	}
	return b.show(), nil
}

func (b *bank) UpdateAllocation(ctx context.Context, credential principal.Credential, organization ids.OrganizationID, project ids.ProjectID, id ids.AllocationID, allocation identity.AllocationWrite) (*identity.Allocation, error) {
	if err := b.answer(ctx, credential, organization, project, "raise "+string(id)); err != nil {
		return nil, err
	}
	b.held = &allocation.Spec
	return b.show(), nil
}

func (b *bank) DeleteAllocation(ctx context.Context, credential principal.Credential, organization ids.OrganizationID, project ids.ProjectID, id ids.AllocationID) error {
	if b.deletions != nil {
		defer func() { b.deletions <- struct{}{} }()
	}
	if err := b.answer(ctx, credential, organization, project, "give back "+string(id)); err != nil {
		return err
	}
	b.held = nil
	return nil
}

func (b *bank) Project(ctx context.Context, credential principal.Credential, organization ids.OrganizationID, project ids.ProjectID) (*identity.Project, error) {
	if err := b.answer(ctx, credential, organization, project, "look for project"); err != nil {
		return nil, err
	}
	return &identity.Project{}, nil
}

func (b *bank) show() *identity.Allocation {
	shown := &identity.Allocation{Spec: *b.held}
	shown.Metadata.ID = string(computetest.Allocation)
	return shown
}

type storedInstance = crbacked.Stored[*v1alpha1.ComputeInstance]

var _ instanceWriter = &shelf{}

// shelf is where instances are written to. during, if set, is what happens
// while one is, and its error the outcome.
type shelf struct {
	*diary

	during  func() error
	written *v1alpha1.ComputeInstance
}

func (s *shelf) Create(_ context.Context, instance *v1alpha1.ComputeInstance) (*storedInstance, error) {
	return s.write("create", instance)
}

func (s *shelf) Update(_ context.Context, _ *storedInstance, desired *v1alpha1.ComputeInstance) (*storedInstance, error) {
	return s.write("update", desired)
}

func (s *shelf) write(event string, instance *v1alpha1.ComputeInstance) (*storedInstance, error) {
	s.note(event)
	if s.during != nil {
		if err := s.during(); err != nil {
			return nil, err
		}
	}
	s.written = instance
	return &storedInstance{Object: instance}, nil
}

// till is a writer between a bank and a shelf that keep one diary.
func till(b *bank) (*Writer, *shelf) {
	s := &shelf{diary: b.diary}
	return NewWriter(s, b, ledger, NewRefunds(b)), s
}

func fine(context.Context) error { return nil }

func charged(ctx context.Context, cost Cost) context.Context {
	return WithCharge(ctx, &Charge{Due: true, Confirm: fine, Principal: ada, Cost: cost})
}

// unpaid is a new instance without its allocation.
func unpaid() *v1alpha1.ComputeInstance {
	return computetest.Stored(func(stored *v1alpha1.ComputeInstance) {
		delete(stored.Annotations, v1alpha1.AnnotationAllocationID)
	})
}

var errRefused = apierrors.NewAlreadyExists(compute.Resource("instances"), computetest.Name)

var errMoved = errors.New("the namespace has moved")
