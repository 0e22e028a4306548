// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

func (r *Reconciler) credential(s *subject) principal.Credential {
	return r.signer.Sign(s.principal)
}

// serversOf are the servers of the instance among those of its network: the one
// to keep first, which is not being deleted if one of them is not.
func serversOf(servers []region.Server, s *subject) []*region.Server {
	var own []*region.Server
	for i := range servers {
		if belongsTo(&servers[i], s.id) {
			own = append(own, &servers[i])
		}
	}
	slices.SortStableFunc(own, func(a, b *region.Server) int {
		switch {
		case a.Deleting() == b.Deleting():
			return 0
		case a.Deleting():
			return 1
		}
		return -1
	})
	return own
}

// create makes the server. What has to hold comes first, the call that makes it
// billable next to last, and the look at what the API server has last.
func (r *Reconciler) create(ctx context.Context, s *subject) (*region.Server, verdict, error) {
	steps := []func(context.Context, *subject) error{
		r.checkNamesake, r.announce, r.checkOwner, r.checkFlavor, r.checkDoubts, r.cover, r.checkCurrent,
	}
	for _, step := range steps {
		if err := step(ctx, s); err != nil {
			return nil, verdict{}, err
		}
	}
	server, err := r.region.CreateServer(ctx, r.credential(s), createBody(s))
	s.note.created(r.clock.Now(), err)
	switch {
	case err == nil:
		r.event(s, corev1.EventTypeNormal, EventServerCreated, "Create", "Created server "+server.Metadata.ID)
		return server, verdict{reason: v1alpha1.ReasonProvisioning, message: "The server is being made.", again: yieldDelay}, nil
	case unikorn.IsConflict(err):
		return r.taken(ctx, s)
	case unikorn.IsUnprocessable(err):
		return nil, verdict{}, park(v1alpha1.ReasonErrored, "The region refuses to make a server of this spec.")
	case unikorn.IsNotFound(err):
		return nil, verdict{}, hold(v1alpha1.ReasonDependencyNotFound, "Something the spec refers to does not exist in the region.")
	}
	return nil, verdict{}, err
}

// taken finds out who has the name that the region says is taken.
func (r *Reconciler) taken(ctx context.Context, s *subject) (*region.Server, verdict, error) {
	wait := verdict{reason: v1alpha1.ReasonProvisioning, message: "The name is still in use on the network.", again: 2 * readLag}
	server, err := r.nameHolder(ctx, s)
	switch {
	case err != nil:
		return nil, verdict{}, err
	case server == nil:
		return nil, wait, nil
	case belongsTo(server, s.id):
		s.note.sighted(server)
		r.event(s, corev1.EventTypeNormal, EventServerAdopted, "Adopt", "Found server "+server.Metadata.ID)
		return server, verdict{reason: v1alpha1.ReasonProvisioning, message: "The server is being made.", again: readLag}, nil
	case server.Deleting():
		s.note.takenSince = time.Time{}
		return nil, wait, nil
	}
	// A server whose deletion was asked for a moment ago may not show it yet.
	now := r.clock.Now()
	if s.note.takenSince.IsZero() {
		s.note.takenSince = now
	}
	if now.Sub(s.note.takenSince) < 2*readLag {
		return nil, wait, nil
	}
	return nil, verdict{}, park(v1alpha1.ReasonNameTaken, "A server that is not this instance's has the name on the network.")
}

// nameHolder is the server that has the name, nil if none shows. Its id follows
// from the name, except with servers of older builds.
func (r *Reconciler) nameHolder(ctx context.Context, s *subject) (*region.Server, error) {
	id, err := s.serverID()
	if err != nil {
		return nil, park(v1alpha1.ReasonErrored, "The object's network label is malformed.")
	}
	server, err := r.region.Server(ctx, r.credential(s), id)
	if err == nil || !unikorn.IsNotFound(err) {
		return server, err
	}
	servers, err := r.poller.Servers(ctx, s, r.clock.Now())
	if err != nil {
		return nil, err
	}
	for i := range servers {
		if servers[i].Metadata.Name == s.name {
			return &servers[i], nil
		}
	}
	return nil, nil
}

// update changes the server in place.
func (r *Reconciler) update(ctx context.Context, s *subject, server *region.Server) (*region.Server, verdict, error) {
	changing := verdict{reason: v1alpha1.ReasonProvisioning, message: "The server is being changed.", again: yieldDelay}
	if wait := s.note.updates.wait(s.object.Generation, r.clock.Now()); wait > 0 {
		changing.again = wait
		return server, changing, nil
	}
	for _, step := range []func(context.Context, *subject) error{r.cover, r.checkCurrent} {
		if err := step(ctx, s); err != nil {
			return server, verdict{}, err
		}
	}
	updated, err := r.region.UpdateServer(ctx, r.credential(s), server.ID(), updateBody(s))
	s.note.lastWrite = r.clock.Now()
	switch {
	case err == nil:
		s.note.updates.made(s.object.Generation, s.note.lastWrite)
		r.event(s, corev1.EventTypeNormal, EventServerUpdated, "Update", "Changed server "+server.Metadata.ID)
		return updated, changing, nil
	case unikorn.IsBadRequest(err), unikorn.IsNotFound(err):
		if unikorn.IsNotFound(err) {
			if err := r.checkReferences(ctx, s); err != nil {
				return server, verdict{}, err
			}
		}
		// It is being deleted, or gone: the next look shows it.
		changing.again = readLag
		return server, changing, nil
	case unikorn.IsUnprocessable(err):
		return server, verdict{}, park(v1alpha1.ReasonErrored, "The region refuses to change the server to this spec.")
	}
	return server, verdict{}, err
}

// replace removes the server; a later pass makes the new one. Everything that
// could keep the new one from being made is checked first, because the old one
// does not come back.
func (r *Reconciler) replace(ctx context.Context, s *subject, server *region.Server) (*region.Server, verdict, error) {
	previous := s.note.replaced
	if previous.generation == s.object.Generation && !previous.created.Equal(server.Metadata.CreationTime) {
		return server, verdict{}, park(v1alpha1.ReasonErrored, "The region made the server differently from what the spec asks for.")
	}
	for _, step := range []func(context.Context, *subject) error{r.checkOwner, r.checkFlavor, r.checkReferences, r.cover, r.checkCurrent} {
		if err := step(ctx, s); err != nil {
			return server, verdict{}, err
		}
	}
	err := r.region.DeleteServer(ctx, r.credential(s), server.ID())
	s.note.lastWrite = r.clock.Now()
	if err != nil && !unikorn.IsNotFound(err) {
		return server, verdict{}, err
	}
	if previous.generation != s.object.Generation {
		r.event(s, corev1.EventTypeNormal, EventServerReplaced, "Replace", "Removing server "+server.Metadata.ID+" to replace it")
	}
	s.note.replaced = replacement{generation: s.object.Generation, created: server.Metadata.CreationTime}
	return server, verdict{reason: v1alpha1.ReasonProvisioning, message: "The server is being replaced.", again: yieldDelay}, nil
}
