// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"crypto/tls"
	"errors"
	"os"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/pki"
)

const (
	// systemNamespace is where artifacts/ installs.
	systemNamespace = "unikorn-compute"
	// serverName is what kube-apiserver expects on the certificate of the
	// Service.
	serverName = server + "." + systemNamespace + ".svc"
	// frontProxy is the common name with which kube-apiserver speaks for its
	// users.
	frontProxy = "front-proxy"
	// platformClient is the name under which region and identity know us.
	platformClient = "unikorn-compute"
)

// credentials are what the environment itself uses. The rest is in files only.
type credentials struct {
	cluster, frontProxies, etcd *pki.Authority
	etcdClient, frontProxy      tls.Certificate
	serving                     tls.Certificate
}

// issue makes all certificates and keys in files of the folder. There are three
// authorities, because what one signs must mean nothing to the others: a
// person's certificate opens neither etcd nor is it the front proxy's.
func issue(folder Folder) (credentials, error) {
	var c credentials
	var err error
	for name, authority := range map[string]**pki.Authority{
		"ca": &c.cluster, "front-proxy-ca": &c.frontProxies, "etcd-ca": &c.etcd,
	} {
		if *authority, err = pki.NewAuthority("devcluster " + name); err != nil {
			return c, err
		}
		if err := os.WriteFile(folder.pki(name+".crt"), (*authority).CertificatePEM(), 0o600); err != nil {
			return c, err
		}
	}
	w := writer{folder: folder}
	w.pair("etcd")(c.etcd.Server())
	c.etcdClient = w.pair("etcd-client")(c.etcd.Client(kubeAPIServer))
	w.pair(kubeAPIServer)(c.cluster.Server("kubernetes", "kubernetes.default", "kubernetes.default.svc"))
	w.pair(controllerManager)(c.cluster.Server())
	c.frontProxy = w.pair(frontProxy)(c.frontProxies.Client(frontProxy))
	c.serving = w.pair(server)(c.cluster.Server(serverName))
	w.pair(simulator)(c.cluster.Server())
	w.pair(platformClient)(c.cluster.RSAClient(platformClient))
	w.serviceAccountKeys()
	return c, errors.Join(w.failures...)
}

// writer puts what is issued into the folder and keeps the failures.
type writer struct {
	folder   Folder
	failures []error
}

// pair returns a function that takes what an authority returns.
func (w *writer) pair(name string) func(pki.Pair, error) tls.Certificate {
	return func(pair pki.Pair, err error) tls.Certificate {
		if err == nil {
			err = pair.Write(w.folder.pki(name+".crt"), w.folder.pki(name+".key"))
		}
		if err != nil {
			w.failures = append(w.failures, err)
			return tls.Certificate{}
		}
		certificate, err := pair.TLS()
		w.failures = append(w.failures, err)
		return certificate
	}
}

func (w *writer) serviceAccountKeys() {
	key, err := pki.NewKey()
	if err != nil {
		w.failures = append(w.failures, err)
		return
	}
	private, public, err := pki.KeyPair(key)
	w.failures = append(w.failures, err,
		os.WriteFile(w.folder.pki("service-account.key"), private, 0o600),
		os.WriteFile(w.folder.pki("service-account.pub"), public, 0o600))
}
