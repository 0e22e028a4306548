// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"errors"
	"fmt"
	"log"
	"net"
	"os"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/balancer"
)

// balancing is the balancer in this process.
type balancing struct {
	balancer *balancer.Balancer
	log      *os.File
	served   chan error
}

// startBalancer opens what the Service of the API server points at.
func (e *Environment) startBalancer() error {
	file, err := os.OpenFile(e.Log("balancer"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	b, listener, err := e.newBalancer(log.New(file, "", log.LstdFlags))
	if err != nil {
		return errors.Join(err, file.Close())
	}
	e.balancing = &balancing{balancer: b, log: file, served: make(chan error, 1)}
	go func() { e.balancing.served <- b.Serve(listener) }()
	return nil
}

func (e *Environment) newBalancer(errorLog *log.Logger) (*balancer.Balancer, net.Listener, error) {
	var addresses []string
	for _, name := range replicaNames() {
		addresses = append(addresses, e.ports.address(name))
	}
	b, err := balancer.New(balancer.Config{
		Replicas:       addresses,
		Serving:        e.issued.serving,
		FrontProxyCAs:  e.issued.frontProxies.Pool(),
		FrontProxyName: frontProxy,
		ServerCAs:      e.issued.cluster.Pool(),
		ServerName:     serverName,
		FrontProxy:     e.issued.frontProxy,
		ErrorLog:       errorLog,
	})
	if err != nil {
		return nil, nil, err
	}
	// The listener that reserved the port is the one that serves it.
	return b, e.ports[server], nil
}

// stop may be called where there is none.
func (b *balancing) stop() error {
	if b == nil {
		return nil
	}
	err := b.balancer.Close()
	if served := <-b.served; served != nil {
		err = errors.Join(err, fmt.Errorf("balancer: %w", served))
	}
	return errors.Join(err, b.log.Close())
}
