// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"context"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/util/workqueue"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// refundTimeout bounds one attempt to give an allocation back.
const refundTimeout = 10 * time.Second

// refund is an allocation that paid for nothing.
type refund struct {
	organization ids.OrganizationID
	project      ids.ProjectID
	actor        string
	kind         principal.Type
	id           ids.AllocationID
}

func (r refund) credential() principal.Credential {
	return principal.Service(principal.Principal{
		OrganizationID:  r.organization,
		OrganizationIDs: []ids.OrganizationID{r.organization},
		ProjectID:       r.project,
		Type:            r.kind,
		Actor:           r.actor,
	})
}

// Refunds gives allocations back, for as long as it takes.
type Refunds struct {
	allocations Allocations
	queue       workqueue.TypedRateLimitingInterface[refund]
}

// NewRefunds returns refunds that are given back through allocations.
func NewRefunds(allocations Allocations) *Refunds {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[refund](100*time.Millisecond, 30*time.Second)
	return &Refunds{
		allocations: allocations,
		queue:       workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[refund]{Name: "quota_refunds"}),
	}
}

// Give gives the allocation back, before it returns if identity is there, else
// in the background. It does not heed the end of ctx.
func (r *Refunds) Give(ctx context.Context, owner principal.Principal, id ids.AllocationID) {
	item := refund{organization: owner.OrganizationID, project: owner.ProjectID, actor: owner.Actor, kind: owner.Type, id: id}
	if err := r.attempt(context.WithoutCancel(ctx), item); err != nil {
		r.queue.AddRateLimited(item)
	}
}

// Run gives back what could not be given back at once, until ctx ends. Then it
// tries what is left once more.
func (r *Refunds) Run(ctx context.Context) {
	defer utilruntime.HandleCrash()
	stop := context.AfterFunc(ctx, r.queue.ShutDown)
	defer stop()
	for {
		item, shutdown := r.queue.Get()
		if shutdown {
			return
		}
		r.work(ctx, item)
	}
}

func (r *Refunds) work(ctx context.Context, item refund) {
	defer r.queue.Done(item)
	if err := r.attempt(context.WithoutCancel(ctx), item); err != nil {
		utilruntime.HandleErrorWithContext(ctx, err, "An allocation that paid for nothing is not given back yet", "allocation", item.id)
		r.queue.AddRateLimited(item)
		return
	}
	r.queue.Forget(item)
}

func (r *Refunds) attempt(ctx context.Context, item refund) error {
	ctx, cancel := context.WithTimeout(ctx, refundTimeout)
	defer cancel()
	err := r.allocations.DeleteAllocation(ctx, item.credential(), item.organization, item.project, item.id)
	if unikorn.IsNotFound(err) {
		return nil
	}
	return err
}
