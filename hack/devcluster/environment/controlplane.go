// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"crypto/tls"
	"os"
	"slices"
	"strings"
)

// etcdPeer is the port at which an etcd of several members would meet the
// others.
const etcdPeer = "etcd-peer"

func (e *Environment) startEtcd(ctx context.Context) error {
	if err := os.MkdirAll(e.path("etcd"), 0o700); err != nil {
		return err
	}
	client, peer := "https://"+e.ports.address(etcd), "https://"+e.ports.address(etcdPeer)
	if err := e.ports.release(etcd, etcdPeer); err != nil {
		return err
	}
	return e.launch(ctx, etcd, etcd, []string{
		"--name=devcluster",
		"--data-dir=" + e.path("etcd"),
		// Nothing is kept that a power failure could spoil.
		"--unsafe-no-fsync",
		"--listen-client-urls=" + client,
		"--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=devcluster=" + peer,
		"--client-cert-auth",
		"--trusted-ca-file=" + e.pki("etcd-ca.crt"),
		"--cert-file=" + e.pki("etcd.crt"),
		"--key-file=" + e.pki("etcd.key"),
		"--peer-client-cert-auth",
		"--peer-trusted-ca-file=" + e.pki("etcd-ca.crt"),
		"--peer-cert-file=" + e.pki("etcd.crt"),
		"--peer-key-file=" + e.pki("etcd.key"),
		"--log-level=warn",
	}, answers(client+"/readyz", &tls.Config{
		RootCAs:      e.issued.etcd.Pool(),
		Certificates: []tls.Certificate{e.issued.etcdClient},
	}))
}

func (e *Environment) startKubeAPIServer(ctx context.Context) error {
	if err := e.ports.release(kubeAPIServer); err != nil {
		return err
	}
	return e.launch(ctx, kubeAPIServer, kubeAPIServer, slices.Concat([]string{
		"--etcd-servers=https://" + e.ports.address(etcd),
		"--etcd-cafile=" + e.pki("etcd-ca.crt"),
		"--etcd-certfile=" + e.pki("etcd-client.crt"),
		"--etcd-keyfile=" + e.pki("etcd-client.key"),
		"--bind-address=" + loopback,
		"--secure-port=" + e.ports.port(kubeAPIServer),
		// No pod looks for the server, and a loopback address cannot be an
		// endpoint of a Service.
		"--advertise-address=" + loopback,
		"--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=10.0.0.0/24",
		"--tls-cert-file=" + e.pki(kubeAPIServer+".crt"),
		"--tls-private-key-file=" + e.pki(kubeAPIServer+".key"),
		"--client-ca-file=" + e.pki("ca.crt"),
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + e.pki("service-account.pub"),
		"--service-account-signing-key-file=" + e.pki("service-account.key"),
		"--requestheader-client-ca-file=" + e.pki("front-proxy-ca.crt"),
		"--requestheader-allowed-names=" + frontProxy,
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-uid-headers=X-Remote-Uid",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + e.pki(frontProxy+".crt"),
		"--proxy-client-key-file=" + e.pki(frontProxy+".key"),
	}, e.auditArguments(kubeAPIServer, e.config.KubeAuditPolicy)), e.healthy(kubeAPIServer))
}

// auditArguments have an API server record requests, unless there is no policy.
func (e *Environment) auditArguments(component, policy string) []string {
	if policy == "" {
		return nil
	}
	return []string{
		"--audit-policy-file=" + policy,
		"--audit-log-path=" + e.Audit(component),
		// Megabytes, so many that it is one file.
		"--audit-log-maxsize=4096",
	}
}

// controllers are those of a cluster without nodes. The others would only slow
// the start, and some write to folders of this machine.
var controllers = []string{
	"clusterrole-aggregation-controller",
	"garbage-collector-controller",
	"namespace-controller",
	"resourcequota-controller",
	"root-ca-certificate-publisher-controller",
	"serviceaccount-controller",
	"serviceaccount-token-controller",
	"validatingadmissionpolicy-status-controller",
}

// startControllerManager runs after the API is served, so that the garbage
// collector, which looks for new resources twice a minute, knows Instances from
// its first look.
func (e *Environment) startControllerManager(ctx context.Context) error {
	if err := e.ports.release(controllerManager); err != nil {
		return err
	}
	return e.launch(ctx, controllerManager, controllerManager, []string{
		"--kubeconfig=" + e.Kubeconfig(controllerManager),
		"--bind-address=" + loopback,
		"--secure-port=" + e.ports.port(controllerManager),
		"--tls-cert-file=" + e.pki(controllerManager+".crt"),
		"--tls-private-key-file=" + e.pki(controllerManager+".key"),
		"--leader-elect=false",
		"--controllers=" + strings.Join(controllers, ","),
		"--use-service-account-credentials",
		"--root-ca-file=" + e.pki("ca.crt"),
		"--service-account-private-key-file=" + e.pki("service-account.key"),
	}, answers("https://"+e.ports.address(controllerManager)+"/healthz", e.trust()))
}

// healthy returns a check that a Kubernetes API server is ready.
func (e *Environment) healthy(name string) check {
	return answers("https://"+e.ports.address(name)+"/readyz", e.trust())
}

// trust verifies servers of the environment.
func (e *Environment) trust() *tls.Config {
	return &tls.Config{RootCAs: e.issued.cluster.Pool()}
}
