// SPDX-License-Identifier: Apache-2.0

package world

import (
	"time"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/machine"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/settings"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// UpdateServer replaces metadata and spec of a server. Another image rebuilds
// the machine; all else is applied in place.
func (w *World) UpdateServer(id ids.ServerID, metadata unikorn.WriteMetadata, spec region.ServerSpec, actor string) (Server, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.Now()
	before, present := w.servers.Get(id, now)
	switch {
	case !present:
		return Server{}, ErrNotFound
	case !before.goneAt.IsZero():
		return Server{}, ErrDeleting
	}
	public := before.Public
	if !wantsPublic(spec) {
		public = Server{}.Public
	} else if !public.IsValid() {
		public, _ = w.takePublic(id)
	}
	modified := timestamp(now)
	w.servers.Row(id).Edit(now, func(server Server) Server {
		describe(&server.Resource.Metadata, metadata)
		server.Resource.Metadata.CreatedBy = actor
		server.Resource.Metadata.ModifiedBy, server.Resource.Metadata.ModifiedTime = actor, &modified
		server.Resource.Spec = spec
		server.Public = public
		return server
	})
	if spec.ImageID != before.Resource.Spec.ImageID {
		w.rebuild(now, id)
	}
	after, _ := w.servers.Get(id, now)
	return after, nil
}

// rebuild puts another image on a machine. Before the first launch it waits
// for that.
func (w *World) rebuild(now time.Time, id ids.ServerID) {
	server, _ := w.servers.Get(id, now)
	current := w.settings.Get()
	takes := settings.Millis(current.RebuildMillis)
	row := w.servers.Row(id)
	last, launched := row.Last()
	waits := !server.State.Launched && launched.After(now)
	from := server.State
	if waits {
		from = last.State
	}
	steps := from.RebuildNew(takes)
	if current.RebuildStyle == settings.RebuildOld {
		steps = from.RebuildOld(takes)
	}
	if !waits {
		server.console.Cancel(now)
		server.console.Reboot(now.Add(takes))
		w.follow(now, server, steps)
		return
	}
	server.console.Reboot(launched.Add(takes))
	for _, step := range steps {
		next := last
		next.State = step.State
		row.Plan(launched.Add(step.After), next)
	}
}

// DeleteServer has a server go. While it goes, doing so again changes nothing.
func (w *World) DeleteServer(id ids.ServerID) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.Now()
	server, present := w.servers.Get(id, now)
	switch {
	case !present:
		return ErrNotFound
	case !server.goneAt.IsZero():
		return nil
	}
	deleted := timestamp(now)
	server.Resource.Metadata.DeletionTime = &deleted
	server.goneAt = now.Add(settings.Millis(w.settings.Get().DeleteMillis))
	server.console.Cancel(now)
	w.follow(now, server, []machine.Step{{State: server.State.Deleting()}})
	return nil
}

// StartServer starts a stopped machine. What the machine cannot do is an error
// of package machine.
func (w *World) StartServer(id ids.ServerID) error {
	boot := settings.Millis(w.settings.Get().BootMillis)
	return w.power(id, func(now time.Time, server Server) error {
		steps, err := server.State.Start(boot)
		if err != nil {
			return err
		}
		server.console.PowerOn(now.Add(boot))
		w.follow(now, server, steps)
		return nil
	})
}

// StopServer stops a running machine.
func (w *World) StopServer(id ids.ServerID) error {
	stop := settings.Millis(w.settings.Get().StopMillis)
	return w.power(id, func(now time.Time, server Server) error {
		steps, err := server.State.Stop(stop)
		if err != nil {
			return err
		}
		server.console.PowerOff(now.Add(stop))
		w.follow(now, server, steps)
		return nil
	})
}

// RebootServer reboots a running machine, which shows nowhere but on its
// console.
func (w *World) RebootServer(id ids.ServerID) error {
	return w.power(id, func(now time.Time, server Server) error {
		if err := server.State.Reboot(); err != nil {
			return err
		}
		server.console.Reboot(now)
		return nil
	})
}

func (w *World) power(id ids.ServerID, act func(time.Time, Server) error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.Now()
	server, present := w.servers.Get(id, now)
	if !present {
		return ErrNotFound
	}
	return act(now, server)
}

// ConsoleLines returns what a server wrote to its console so far.
func (w *World) ConsoleLines(id ids.ServerID) ([]string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.Now()
	server, present := w.servers.Get(id, now)
	if !present {
		return nil, ErrNotFound
	}
	if err := server.State.ReadConsole(); err != nil {
		return nil, err
	}
	return server.console.Lines(server.Resource.Metadata.Name, now), nil
}
