// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	restclient "k8s.io/client-go/rest"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/computetest"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/identity"
	"github.com/unikorn-cloud/instance-apiserver/pkg/storage/computeinstance"
	"github.com/unikorn-cloud/instance-apiserver/pkg/storage/crbacked"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn/unikorntest"
)

const giveBack = "give back " + string(computetest.Allocation)

func expectEvents(t *testing.T, d *diary, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, d.read()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestCreateIsChargedBeforeItIsWritten(t *testing.T) {
	b := newBank(t)
	writer, s := till(b)
	cost := Cost{Servers: 1, GPUs: 2, Addresses: 1}
	stored, err := writer.Create(charged(t.Context(), cost), unpaid())
	if err != nil {
		t.Fatal(err)
	}
	expectEvents(t, b.diary, "charge", "create")
	if diff := cmp.Diff(computetest.Stored(), s.written); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
	if stored.Object != s.written {
		t.Error("answered with something else than what was written")
	}
	if diff := cmp.Diff(&ledgerAllocation(cost).Spec, b.held); diff != "" {
		t.Errorf("allocation (-want +got):\n%s", diff)
	}
}

func TestCreateWithoutChargeIsOurFault(t *testing.T) {
	for name, ctx := range map[string]context.Context{
		"no charge":       t.Context(),
		"nothing to pay":  WithCharge(t.Context(), &Charge{}),
		"charge not made": WithCharge(t.Context(), &Charge{Principal: ada, Cost: Cost{Servers: 1}}),
	} {
		t.Run(name, func(t *testing.T) {
			b := newBank(t)
			writer, _ := till(b)
			if _, err := writer.Create(ctx, unpaid()); !apierrors.IsInternalError(err) {
				t.Errorf("got %v, want InternalError", err)
			}
			expectEvents(t, b.diary)
		})
	}
}

func TestWhatTheChargeRestsOnIsGone(t *testing.T) {
	b := newBank(t, Cost{Servers: 1})
	writer, _ := till(b)
	ctx := WithCharge(t.Context(), &Charge{
		Due: true, Confirm: func(context.Context) error { return errMoved }, Principal: ada, Cost: Cost{Servers: 2},
	})
	if _, err := writer.Create(ctx, unpaid()); !errors.Is(err, errMoved) {
		t.Errorf("create: got %v, want %v", err, errMoved)
	}
	if _, err := writer.Update(ctx, &storedInstance{Object: computetest.Stored()}, computetest.Stored()); !errors.Is(err, errMoved) {
		t.Errorf("update: got %v, want %v", err, errMoved)
	}
	expectEvents(t, b.diary)
}

func TestRefusedChargeWritesNothing(t *testing.T) {
	for name, refusal := range map[string]error{
		"no quota": &identity.QuotaExceededError{Kind: "servers", Total: 11, Limit: 10},
		"down":     errDown,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBank(t)
			b.failures["charge"] = []error{refusal}
			writer, _ := till(b)
			if _, err := writer.Create(charged(t.Context(), Cost{Servers: 1}), unpaid()); !errors.Is(err, refusal) {
				t.Errorf("got %v, want %v", err, refusal)
			}
			expectEvents(t, b.diary, "charge")
		})
	}
}

// The caller may be gone by the time it is known what to give back.
func TestRefusedWriteIsGivenBackOnce(t *testing.T) {
	b := newBank(t)
	writer, s := till(b)
	ctx, cancel := context.WithCancel(t.Context())
	s.during = func() error {
		cancel()
		return errRefused
	}
	if _, err := writer.Create(charged(ctx, Cost{Servers: 1}), unpaid()); !errors.Is(err, errRefused) {
		t.Errorf("got %v, want %v", err, errRefused)
	}
	writer.refunds.Drain()
	expectEvents(t, b.diary, "charge", "create", giveBack)
	if b.held != nil {
		t.Errorf("still charged: %v", b.held)
	}
}

// An answer that nobody waits for would leave a charge that nobody knows of.
func TestChargeOutlivesItsCaller(t *testing.T) {
	b := newBank(t)
	writer, _ := till(b)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := writer.Create(charged(ctx, Cost{Servers: 1}), unpaid()); err != nil {
		t.Fatal(err)
	}
	expectEvents(t, b.diary, "charge", "create")
}

// Given back, an allocation could leave an instance that nobody pays for.
func TestWriteOfUnknownOutcomeKeepsItsCharge(t *testing.T) {
	b := newBank(t)
	writer := NewWriter(doubtfulHost(t), b, ledger, NewRefunds(b))
	_, err := writer.Create(charged(t.Context(), Cost{Servers: 1}), unpaid())
	if !crbacked.OutcomeUnknown(err) {
		t.Fatalf("got %v, want an unknown outcome", err)
	}
	writer.refunds.Drain()
	expectEvents(t, b.diary, "charge")
	if b.held == nil {
		t.Error("given back")
	}
}

// doubtfulHost is the writer of a host cluster that never says what became of
// a write.
func doubtfulHost(t *testing.T) instanceWriter {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusGatewayTimeout)
	}))
	t.Cleanup(server.Close)
	host, err := crbacked.ClientFor(&restclient.Config{Host: server.URL}, v1alpha1.SchemeGroupVersion)
	if err != nil {
		t.Fatal(err)
	}
	var writer instanceWriter
	_, err = crbacked.New(crbacked.Config[*compute.Instance, *v1alpha1.ComputeInstance]{
		Host:                    host,
		Mapper:                  computeinstance.Mapper{},
		Facade:                  crbacked.Names{GroupVersion: v1beta1.SchemeGroupVersion, Kind: "Instance", Resource: "instances"},
		Stored:                  crbacked.Names{GroupVersion: v1alpha1.SchemeGroupVersion, Kind: "ComputeInstance", Resource: "computeinstances"},
		ResourcePrefix:          "instances",
		UIDSalt:                 "instances",
		FinalizerPrefix:         compute.GroupName,
		ManagedFieldsAnnotation: v1alpha1.AnnotationManagedFields,
		FieldManager:            "test",
		Ours:                    SameAllocation,
		SettleTimeout:           time.Nanosecond,
		Decorate: func(next instanceWriter) instanceWriter {
			writer = next
			return next
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return writer
}

// A client that is told when to try again does so by itself, and would be
// charged each time.
func TestLostAnswerToAChargeInvitesNoRepetition(t *testing.T) {
	pki := unikorntest.NewPKI(t, "unikorn-compute")
	server := pki.Start(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	client, err := identity.New(unikorn.Config{Host: server.URL, TLS: pki.Files(t)})
	if err != nil {
		t.Fatal(err)
	}
	s := &shelf{diary: &diary{}}
	_, err = NewWriter(s, client, ledger, NewRefunds(client)).Create(charged(t.Context(), Cost{Servers: 1}), unpaid())
	if !apierrors.IsTimeout(err) {
		t.Errorf("got %v, want Timeout", err)
	}
	if seconds, again := apierrors.SuggestsClientDelay(err); again {
		t.Errorf("the client is invited to try again after %d s", seconds)
	}
	expectEvents(t, s.diary)
}

func TestSameAllocation(t *testing.T) {
	other := computetest.Stored(func(stored *v1alpha1.ComputeInstance) {
		stored.Annotations[v1alpha1.AnnotationAllocationID] = "a110c000-0000-4000-8000-000000000002"
	})
	if !SameAllocation(computetest.Stored(), computetest.Stored()) {
		t.Error("one allocation is not the same")
	}
	if SameAllocation(computetest.Stored(), other) {
		t.Error("two allocations are the same")
	}
	if SameAllocation(unpaid(), unpaid()) {
		t.Error("two instances that nobody paid for are the same")
	}
}
