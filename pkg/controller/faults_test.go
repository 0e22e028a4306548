// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn/unikorntest"
)

// fault is what happens to one call.
type fault string

const (
	// faultRefused: the service refuses the controller; nothing is done.
	faultRefused fault = "refused"
	// faultDropped: no answer, nothing is done.
	faultDropped fault = "dropped"
	// faultLost: no answer, and it is done.
	faultLost fault = "lost"
	// faultLate: no answer, and it is done 20 seconds later.
	faultLate fault = "late"
	// faultCrashBefore and faultCrashAfter: the controller dies and another
	// starts. With faultCrashLate what it asked for is done 20 seconds later.
	faultCrashBefore fault = "crash before"
	faultCrashAfter  fault = "crash after"
	faultCrashLate   fault = "crash, done late"
)

const lateness = 20 * time.Second

// crash is the panic of a controller that dies.
type crash struct{}

// faults makes the nth call of an operation fail, counted from arm on.
type faults struct {
	// lost is the error of a call without answer.
	lost error

	mu   sync.Mutex
	op   string
	in   int
	kind fault
	hit  bool
}

func (f *faults) arm(op string, nth int, kind fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.op, f.in, f.kind, f.hit = op, nth, kind, false
}

func (f *faults) wasHit() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hit
}

func (f *faults) next(op string) fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.op != op || f.hit {
		return ""
	}
	f.in--
	if f.in > 0 {
		return ""
	}
	f.hit = true
	return f.kind
}

func (f *faults) apply(_ context.Context, op string, commit func() error) error {
	late := func() {
		go func() {
			<-time.After(lateness)
			_ = commit() // nobody is there any more to be told
		}()
	}
	switch f.next(op) {
	case faultRefused:
		return &unikorn.Error{Service: unikorn.RegionService, Operation: op, Kind: unikorn.ServiceRefused, StatusCode: http.StatusForbidden, Code: unikorn.Forbidden}
	case faultDropped:
		return f.lost
	case faultLost:
		_ = commit() // the answer is lost
		return f.lost
	case faultLate:
		late()
		return f.lost
	case faultCrashBefore:
		panic(crash{})
	case faultCrashAfter:
		_ = commit() // the answer is lost
		panic(crash{})
	case faultCrashLate:
		late()
		panic(crash{})
	}
	return commit()
}

// lostAnswer is the error of a call whose connection was dropped, as the client
// makes it: tests cannot, because what it says about the outcome is not theirs
// to set.
func lostAnswer(t *testing.T) error {
	t.Helper()
	pki := unikorntest.NewPKI(t, "unikorn-compute")
	server := pki.Start(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	client, err := region.New(unikorn.Config{Host: server.URL, TLS: pki.Files(t)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.CreateServer(t.Context(), principal.Service(principal.Principal{}), region.ServerCreate{})
	if !unikorn.OutcomeUnknown(err) {
		t.Fatalf("a dropped connection is %v", err)
	}
	return err
}
