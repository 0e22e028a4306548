// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
)

// network is what is known of one network. It is there as long as somebody
// follows it.
type network struct {
	since     time.Time
	followers map[types.NamespacedName]*follower
	principal principal.Principal
	// last is the newest list, attempt the newest list or failure of one.
	last, attempt *listing
	// flight is the newest list under way.
	flight *listing
}

type follower struct {
	instance ids.InstanceID
	// movingUntil is how long its server is expected to change soon.
	movingUntil time.Time
}

// listing is a list of the servers on a network.
type listing struct {
	// started is when it was asked for: what was written before shows, save for
	// the read lag.
	started time.Time
	// done is closed when the rest is set.
	done    chan struct{}
	servers []region.Server
	err     error
}

func (l *listing) wait(ctx context.Context) ([]region.Server, error) {
	select {
	case <-l.done:
		return l.servers, l.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (n *network) differences(before, after []region.Server) []types.NamespacedName {
	old, current := byInstance(before), byInstance(after)
	var changed []types.NamespacedName
	for key, follower := range n.followers {
		if !reflect.DeepEqual(old[follower.instance], current[follower.instance]) {
			changed = append(changed, key)
		}
	}
	return changed
}

func byInstance(servers []region.Server) map[ids.InstanceID][]*region.Server {
	result := map[ids.InstanceID][]*region.Server{}
	for i := range servers {
		if instance, ok := servers[i].InstanceID(); ok {
			result[instance] = append(result[instance], &servers[i])
		}
	}
	return result
}

// wait is the time until the network is to be listed.
func (n *network) wait(now time.Time, timing Timing) time.Duration {
	newest := n.attempt
	if n.flight != nil {
		newest = n.flight
	}
	if newest == nil {
		// The first pass on a network lists it right away.
		return timing.Moving - now.Sub(n.since)
	}
	return n.interval(now, timing) - now.Sub(newest.started)
}

func (n *network) interval(now time.Time, timing Timing) time.Duration {
	for _, follower := range n.followers {
		if follower.movingUntil.After(now) {
			return timing.Moving
		}
	}
	return timing.Steady
}
