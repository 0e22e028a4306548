// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator"
)

// addresses is the content of --addresses-file.
type addresses struct {
	Region   string `json:"region"`
	Identity string `json:"identity"`
	Admin    string `json:"admin"`
}

func addressesOf(listeners simulator.Listeners) addresses {
	return addresses{
		Region:   "https://" + listeners.Region.Addr().String(),
		Identity: "https://" + listeners.Identity.Addr().String(),
		Admin:    "http://" + listeners.Admin.Addr().String(),
	}
}

// write puts the file there in one piece, because others wait for it.
func (a addresses) write(path string) error {
	if path == "" {
		return nil
	}
	raw, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("--addresses-file: %w", err)
	}
	unfinished := path + ".tmp"
	if err := os.WriteFile(unfinished, append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("--addresses-file: %w", err)
	}
	if err := os.Rename(unfinished, path); err != nil {
		return fmt.Errorf("--addresses-file: %w", err)
	}
	return nil
}

// listen binds all addresses, or none.
func (o *options) listen(ctx context.Context) (simulator.Listeners, error) {
	if err := requireLoopback(o.adminAddress); err != nil {
		return simulator.Listeners{}, err
	}
	var listeners simulator.Listeners
	var bound []net.Listener
	for _, wanted := range []struct {
		flag, address string
		listener      *net.Listener
	}{
		{"region-bind-address", o.regionAddress, &listeners.Region},
		{"identity-bind-address", o.identityAddress, &listeners.Identity},
		{"admin-bind-address", o.adminAddress, &listeners.Admin},
	} {
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", wanted.address)
		if err != nil {
			errs := []error{fmt.Errorf("--%s: %w", wanted.flag, err)}
			for _, other := range bound {
				errs = append(errs, other.Close())
			}
			return simulator.Listeners{}, errors.Join(errs...)
		}
		bound = append(bound, listener)
		*wanted.listener = listener
	}
	return listeners, nil
}

var errNotLoopback = errors.New("--admin-bind-address is not on loopback: whoever reaches the admin API can do anything")

func requireLoopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("--admin-bind-address: %w", err)
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return errNotLoopback
}
