// SPDX-License-Identifier: Apache-2.0

package region

import (
	"context"
	"net/http"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// The methods of this file operate a running machine. Of all of them,
// unikorn.IsBadRequest says that it is in no state for the call, and
// unikorn.IsNotFound that there is no machine (yet).

// StartServer starts a stopped machine.
func (c *Client) StartServer(ctx context.Context, credential principal.Credential, id ids.ServerID) error {
	return unikorn.Do(ctx, c.caller, about("StartServer"), func(ctx context.Context) (*http.Response, error) {
		return c.wire.StartServer(ctx, id, edit(credential))
	})
}

// StopServer stops a running machine.
func (c *Client) StopServer(ctx context.Context, credential principal.Credential, id ids.ServerID) error {
	return unikorn.Do(ctx, c.caller, about("StopServer"), func(ctx context.Context) (*http.Response, error) {
		return c.wire.StopServer(ctx, id, edit(credential))
	})
}

// SoftRebootServer asks the guest to reboot.
func (c *Client) SoftRebootServer(ctx context.Context, credential principal.Credential, id ids.ServerID) error {
	return unikorn.Do(ctx, c.caller, about("SoftRebootServer"), func(ctx context.Context) (*http.Response, error) {
		return c.wire.SoftRebootServer(ctx, id, edit(credential))
	})
}

// HardRebootServer power-cycles the machine.
func (c *Client) HardRebootServer(ctx context.Context, credential principal.Credential, id ids.ServerID) error {
	return unikorn.Do(ctx, c.caller, about("HardRebootServer"), func(ctx context.Context) (*http.Response, error) {
		return c.wire.HardRebootServer(ctx, id, edit(credential))
	})
}

// CreateConsoleSession opens a console session.
func (c *Client) CreateConsoleSession(ctx context.Context, credential principal.Credential, id ids.ServerID) (*ConsoleSession, error) {
	return unikorn.Call[ConsoleSession](ctx, c.caller, about("CreateConsoleSession"), func(ctx context.Context) (*http.Response, error) {
		return c.wire.CreateConsoleSession(ctx, id, edit(credential), unikorn.Once)
	})
}

// ConsoleOutput reads the last lines of console output, or with nil all the
// provider keeps.
func (c *Client) ConsoleOutput(ctx context.Context, credential principal.Credential, id ids.ServerID, lines *int) (*ConsoleOutput, error) {
	params := &GetConsoleOutputParams{Length: lines}
	return unikorn.Call[ConsoleOutput](ctx, c.caller, about("GetConsoleOutput"), func(ctx context.Context) (*http.Response, error) {
		return c.wire.GetConsoleOutput(ctx, id, params, edit(credential))
	})
}

// CreateSnapshot makes an image of the machine's disk. Region does not tell a
// wrong state from its own failures here: both are server errors.
func (c *Client) CreateSnapshot(ctx context.Context, credential principal.Credential, id ids.ServerID, snapshot SnapshotCreate) (*Image, error) {
	return unikorn.Call[Image](ctx, c.caller, about("CreateSnapshot"), func(ctx context.Context) (*http.Response, error) {
		return c.wire.CreateSnapshot(ctx, id, snapshot, edit(credential))
	})
}

// SSHKey reads the private key of the machine's network. unikorn.IsNotFound says
// that the machine was not made with it. It depends on no state of the machine, so
// that a 400 is about the form of the call.
func (c *Client) SSHKey(ctx context.Context, credential principal.Credential, id ids.ServerID) (*SSHKey, error) {
	return unikorn.Call[SSHKey](ctx, c.caller, refusing("GetServerSSHKey", http.StatusConflict, http.StatusUnprocessableEntity), func(ctx context.Context) (*http.Response, error) {
		return c.wire.GetServerSSHKey(ctx, id, edit(credential))
	})
}
