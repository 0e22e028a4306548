// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
)

// Ports are drawn below those that the kernel gives to outgoing connections,
// or such a connection could take one between its choice and its use.
const (
	firstPort = 20000
	lastPort  = 32767
	// portAttempts to draw one that is free.
	portAttempts = 100
)

const loopback = "127.0.0.1"

// ports are free ports by the name of what will listen there. Each is occupied
// until it is released for its user, so that another environment that starts
// at the same time draws others.
type ports map[string]net.Listener

func reservePorts(names ...string) (ports, error) {
	reserved := ports{}
	for _, name := range names {
		listener, err := listenAnywhere()
		if err != nil {
			return nil, errors.Join(fmt.Errorf("port for %s: %w", name, err), reserved.release(names...))
		}
		reserved[name] = listener
	}
	return reserved, nil
}

func listenAnywhere() (net.Listener, error) {
	var failure error
	for range portAttempts {
		port := firstPort + rand.IntN(lastPort-firstPort+1) //nolint:gosec // whoever foresees it gains nothing
		listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.ParseIP(loopback), Port: port})
		if err == nil {
			return listener, nil
		}
		failure = err
	}
	return nil, fmt.Errorf("none of %d is free, the last: %w", portAttempts, failure)
}

// release frees ports for those who asked for them. It may be repeated.
func (p ports) release(names ...string) error {
	var failures []error
	for _, name := range names {
		listener, ok := p[name]
		if !ok {
			continue
		}
		if err := listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

// address returns host:port.
func (p ports) address(name string) string {
	return p[name].Addr().String()
}

func (p ports) number(name string) int {
	return p[name].Addr().(*net.TCPAddr).Port
}

func (p ports) port(name string) string {
	return strconv.Itoa(p.number(name))
}

// write records the addresses by name as JSON.
func (p ports) write(file string) error {
	addresses := map[string]string{}
	for name := range p {
		addresses[name] = p.address(name)
	}
	content, err := json.MarshalIndent(addresses, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(content, '\n'), 0o600)
}
