// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/computetest"
)

// patience is how long a test waits for what happens in the background.
const patience = time.Minute

// refundsAt are refunds whose clock stands still, of a bank that holds one
// allocation and answers deletions as given, the last answers being success.
func refundsAt(t *testing.T, answers ...error) (*bank, *Refunds, *clocktesting.FakeClock) {
	t.Helper()
	b := newBank(t, Cost{Servers: 1})
	b.failures[giveBack] = answers
	b.deletions = make(chan struct{}, 100)
	stopped := clocktesting.NewFakeClock(time.Now())
	refunds := NewRefunds(b)
	refunds.clock = stopped
	return b, refunds, stopped
}

func (b *bank) awaitDeletion(t *testing.T) {
	t.Helper()
	select {
	case <-b.deletions:
	case <-time.After(patience):
		t.Fatal("no deletion was tried")
	}
}

// pass lets the refund that waits for its next attempt wait no longer.
func pass(t *testing.T, stopped *clocktesting.FakeClock) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, patience, true, func(context.Context) (bool, error) {
		return stopped.HasWaiters(), nil
	})
	if err != nil {
		t.Fatalf("nothing waits for its next attempt: %v", err)
	}
	stopped.Step(time.Hour)
}

func TestGivenBackAtOnce(t *testing.T) {
	for name, answers := range map[string][]error{"given back": nil, "was not there": {errMissing}} {
		t.Run(name, func(t *testing.T) {
			b, refunds, stopped := refundsAt(t, answers...)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			refunds.Give(ctx, ada, computetest.Allocation)
			expectEvents(t, b.diary, giveBack)
			refunds.Drain()
			if stopped.HasWaiters() {
				t.Error("something waits for another attempt")
			}
			expectEvents(t, b.diary, giveBack)
		})
	}
}

func TestGivenBackInTheEnd(t *testing.T) {
	b, refunds, stopped := refundsAt(t, errDown, errDown)
	ctx, cancel := context.WithCancel(t.Context())
	refunds.Give(ctx, ada, computetest.Allocation)
	cancel()
	b.awaitDeletion(t)
	for range 2 {
		pass(t, stopped)
		b.awaitDeletion(t)
	}
	refunds.Drain()
	expectEvents(t, b.diary, giveBack, giveBack, giveBack)
	if b.held != nil {
		t.Error("still charged")
	}
}

func TestGoneMeanwhileCountsAsGivenBack(t *testing.T) {
	b, refunds, stopped := refundsAt(t, errDown, errMissing)
	refunds.Give(t.Context(), ada, computetest.Allocation)
	pass(t, stopped)
	b.awaitDeletion(t)
	b.awaitDeletion(t)
	refunds.Drain()
	expectEvents(t, b.diary, giveBack, giveBack)
}

// Identity answers 500 for what is in a project that does not exist any more,
// and for its own failures.
func TestGoneWithItsProjectCountsAsGivenBack(t *testing.T) {
	const look = "look for project"
	for name, test := range map[string]struct {
		project error
		retried bool
	}{
		"the project is gone":    {project: errMissing},
		"the project is there":   {retried: true},
		"nobody knows":           {project: errDown, retried: true},
		"identity cannot say so": {project: errServer, retried: true},
	} {
		t.Run(name, func(t *testing.T) {
			b, refunds, _ := refundsAt(t, errServer)
			b.failures[look] = []error{test.project}
			refunds.Give(t.Context(), ada, computetest.Allocation)
			refunds.Drain()
			want := []string{giveBack, look}
			if test.retried {
				want = append(want, giveBack)
			}
			expectEvents(t, b.diary, want...)
		})
	}
}

// At the end nothing waits for its time any more: the clock does not move.
func TestDrainTriesOnceMore(t *testing.T) {
	for name, answers := range map[string][]error{"in vain": {errDown, errDown, errDown, errDown}, "with success": {errDown}} {
		t.Run(name, func(t *testing.T) {
			b, refunds, _ := refundsAt(t, answers...)
			refunds.Give(t.Context(), ada, computetest.Allocation)
			refunds.Drain()
			expectEvents(t, b.diary, giveBack, giveBack)
			if kept := b.held != nil; kept != (name == "in vain") {
				t.Errorf("still charged: %t", kept)
			}
		})
	}
}
