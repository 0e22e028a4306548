// SPDX-License-Identifier: Apache-2.0

package regionserver

import (
	"fmt"
	"net/http"

	"github.com/google/uuid"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/acl"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/console"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/wire"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// verb handles an operation on a server, for all of which reading the server
// is permission enough.
func (s *Server) verb(w http.ResponseWriter, r *http.Request, status int, id ids.ServerID, act func(call, world.Server) (any, error)) {
	s.answer(w, r, status, func(c call) (any, error) {
		server, err := readServer(c, s.World.Now(), id)
		if err != nil {
			return nil, err
		}
		return act(c, server)
	})
}

// power handles a power verb.
func (s *Server) power(w http.ResponseWriter, r *http.Request, id ids.ServerID, act func(ids.ServerID) error) {
	s.verb(w, r, http.StatusAccepted, id, func(call, world.Server) (any, error) {
		return nil, answerOf(act(id))
	})
}

// StartServer starts a server.
func (s *Server) StartServer(w http.ResponseWriter, r *http.Request, id ids.ServerID) {
	s.power(w, r, id, s.World.StartServer)
}

// StopServer stops a server.
func (s *Server) StopServer(w http.ResponseWriter, r *http.Request, id ids.ServerID) {
	s.power(w, r, id, s.World.StopServer)
}

// SoftRebootServer asks the guest to reboot.
func (s *Server) SoftRebootServer(w http.ResponseWriter, r *http.Request, id ids.ServerID) {
	s.power(w, r, id, s.World.RebootServer)
}

// HardRebootServer switches a server off and on.
func (s *Server) HardRebootServer(w http.ResponseWriter, r *http.Request, id ids.ServerID) {
	s.power(w, r, id, s.World.RebootServer)
}

// CreateConsoleSession answers a console session that nobody was given before.
func (s *Server) CreateConsoleSession(w http.ResponseWriter, r *http.Request, id ids.ServerID) {
	s.verb(w, r, http.StatusOK, id, func(_ call, server world.Server) (any, error) {
		if err := server.State.OpenConsole(); err != nil {
			return nil, answerOf(err)
		}
		url := fmt.Sprintf("https://console.simulator.invalid/%s?token=%s", id, uuid.New())
		return region.ConsoleSession{URL: url}, nil
	})
}

// GetConsoleOutput answers what a server wrote to its console.
func (s *Server) GetConsoleOutput(w http.ResponseWriter, r *http.Request, id ids.ServerID, params region.GetConsoleOutputParams) {
	s.verb(w, r, http.StatusOK, id, func(call, world.Server) (any, error) {
		lines, err := s.World.ConsoleLines(id)
		if err != nil {
			return nil, answerOf(err)
		}
		length := -1
		if params.Length != nil {
			length = *params.Length
		}
		return region.ConsoleOutput{Contents: console.Tail(lines, length)}, nil
	})
}

// GetServerSSHKey answers the key of the server's network, for a server that
// was made with it.
func (s *Server) GetServerSSHKey(w http.ResponseWriter, r *http.Request, id ids.ServerID) {
	s.verb(w, r, http.StatusOK, id, func(_ call, server world.Server) (any, error) {
		if server.Resource.Status.SSHInjection != region.SSHInjectionIdentityKeypair {
			return nil, wire.Error(http.StatusNotFound, "")
		}
		network, err := s.World.Now().Network(server.Resource.Status.NetworkID)
		if err != nil {
			return nil, answerOf(err)
		}
		return region.SSHKey{PrivateKey: network.PrivateKey}, nil
	})
}

// CreateSnapshot makes an image of a server's disk. What the provider refuses
// is a 500.
func (s *Server) CreateSnapshot(w http.ResponseWriter, r *http.Request, id ids.ServerID) {
	s.verb(w, r, http.StatusCreated, id, func(c call, server world.Server) (any, error) {
		create, err := wire.Decode[region.SnapshotCreate](r)
		if err != nil {
			return nil, err
		}
		if !c.rights.AllowsInOrganization(acl.Images, unikorn.OperationCreate, server.Resource.Metadata.OrganizationID) {
			return nil, wire.Denied(acl.Images, unikorn.OperationCreate)
		}
		image, err := s.World.Snapshot(id, create.Metadata, c.actor())
		if err != nil {
			return nil, wire.Error(http.StatusInternalServerError, "")
		}
		return image, nil
	})
}
