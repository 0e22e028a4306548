// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
)

// refundTimeout bounds one attempt to give an allocation back.
const refundTimeout = 10 * time.Second

// Refunds gives back allocations that paid for nothing, for as long as it
// takes.
type Refunds struct {
	identity Releaser
	clock    clock.Clock
	stop     chan struct{}
	running  sync.WaitGroup
}

// NewRefunds returns refunds that are given back to identity. Drain ends them.
func NewRefunds(identity Releaser) *Refunds {
	return &Refunds{identity: identity, clock: clock.RealClock{}, stop: make(chan struct{})}
}

// Give gives the allocation back: before it returns if identity answers, else
// in the background. It does not heed the end of ctx, which is a request that
// may be over.
func (r *Refunds) Give(ctx context.Context, owner principal.Principal, id ids.AllocationID) {
	ctx = context.WithoutCancel(ctx)
	if err := r.attempt(ctx, owner, id); err != nil {
		r.running.Go(func() { r.persist(ctx, owner, id, err) })
	}
}

// Drain gives back what is still to be given back, once more and now, and
// waits for it. No more may be given afterwards.
func (r *Refunds) Drain() {
	close(r.stop)
	r.running.Wait()
}

func (r *Refunds) persist(ctx context.Context, owner principal.Principal, id ids.AllocationID, err error) {
	logger := klog.FromContext(ctx).WithValues("allocation", id, "organization", owner.OrganizationID, "project", owner.ProjectID)
	logger.Error(err, "An allocation that paid for nothing is not given back yet")
	backoff := wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Jitter: 0.2, Steps: 20, Cap: 30 * time.Second}
	for last := false; !last; {
		last = r.pause(backoff.Step())
		if err = r.attempt(ctx, owner, id); err == nil {
			return
		}
	}
	logger.Error(err, "An allocation that paid for nothing was not given back before the server stopped; an operator must delete it")
}

// pause waits and says whether the wait was cut short by the end of all.
func (r *Refunds) pause(d time.Duration) bool {
	timer := r.clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-r.stop:
		return true
	case <-timer.C():
		return false
	}
}

func (r *Refunds) attempt(ctx context.Context, owner principal.Principal, id ids.AllocationID) error {
	ctx, cancel := context.WithTimeout(ctx, refundTimeout)
	defer cancel()
	return Release(ctx, r.identity, principal.Service(owner), owner, id)
}
