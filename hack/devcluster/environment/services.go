// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"crypto/tls"
	"os"
	"slices"
	"strconv"

	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/adminclient"
)

// Names of the ports of the simulator and of the controller.
const (
	region            = "region"
	identity          = "identity"
	controllerMetrics = "instance-controller-metrics"
	controllerHealth  = "instance-controller-health"
)

// replicas of the API server stand behind the balancer, so that whatever one of
// them keeps to itself shows.
const replicas = 2

// portNames are all that listen.
var portNames = slices.Concat([]string{
	etcd, etcdPeer, kubeAPIServer, controllerManager, region, identity, simulator,
	server, controllerMetrics, controllerHealth,
}, replicaNames())

func replicaNames() []string {
	var names []string
	for i := range replicas {
		names = append(names, server+"-"+strconv.Itoa(i))
	}
	return names
}

func (e *Environment) startSimulator(ctx context.Context) error {
	if err := e.ports.release(region, identity, simulator); err != nil {
		return err
	}
	admin := "http://" + e.ports.address(simulator)
	if err := e.launch(ctx, simulator, "unikorn-simulator", []string{
		"--region-bind-address=" + e.ports.address(region),
		"--identity-bind-address=" + e.ports.address(identity),
		"--admin-bind-address=" + e.ports.address(simulator),
		"--tls-cert-file=" + e.pki(simulator+".crt"),
		"--tls-private-key-file=" + e.pki(simulator+".key"),
		"--client-ca-file=" + e.pki("ca.crt"),
	}, answers(admin+"/servers", &tls.Config{})); err != nil {
		return err
	}
	if err := os.WriteFile(e.path("simulator.url"), []byte(admin+"\n"), 0o600); err != nil {
		return err
	}
	if e.config.Simulator == nil {
		return nil
	}
	return adminclient.Client{URL: admin}.SetSettings(ctx, *e.config.Simulator)
}

func (e *Environment) startServers(ctx context.Context) error {
	for _, name := range replicaNames() {
		if err := e.startServer(ctx, name); err != nil {
			return err
		}
	}
	return e.startBalancer()
}

func (e *Environment) startServer(ctx context.Context, name string) error {
	if err := e.ports.release(name); err != nil {
		return err
	}
	kubeconfig := e.Kubeconfig(server)
	return e.launch(ctx, name, server, slices.Concat([]string{
		"--bind-address=" + loopback,
		"--secure-port=" + e.ports.port(name),
		"--tls-cert-file=" + e.pki(server+".crt"),
		"--tls-private-key-file=" + e.pki(server+".key"),
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--principal-username-prefix=",
		"--platform-groups=system:masters",
	}, e.platformArguments(), e.auditArguments(name, e.config.InstanceAuditPolicy)), e.healthy(name))
}

func (e *Environment) startController(ctx context.Context) error {
	if err := e.ports.release(controllerMetrics, controllerHealth); err != nil {
		return err
	}
	health := e.ports.address(controllerHealth)
	return e.launch(ctx, controller, controller, slices.Concat([]string{
		"--kubeconfig=" + e.Kubeconfig(controller),
		"--leader-elect",
		"--leader-elect-namespace=" + systemNamespace,
		"--metrics-bind-address=" + e.ports.address(controllerMetrics),
		"--health-probe-bind-address=" + health,
	}, e.platformArguments()), answers("http://"+health+"/readyz", &tls.Config{}))
}

// platformArguments say where region and identity are and who calls them.
func (e *Environment) platformArguments() []string {
	return []string{
		"--region-host=https://" + e.ports.address(region),
		"--region-ca-file=" + e.pki("ca.crt"),
		"--identity-host=https://" + e.ports.address(identity),
		"--identity-ca-file=" + e.pki("ca.crt"),
		"--client-cert-file=" + e.pki(platformClient+".crt"),
		"--client-key-file=" + e.pki(platformClient+".key"),
	}
}
