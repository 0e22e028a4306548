// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// writeKubeconfigs gives everybody whose certificate is all it takes a
// kubeconfig.
func (e *Environment) writeKubeconfigs() error {
	if err := e.writeCertificateKubeconfig(Admin, Admin, "", "system:masters"); err != nil {
		return err
	}
	if err := e.writeCertificateKubeconfig(controllerManager, "system:kube-controller-manager", ""); err != nil {
		return err
	}
	for _, person := range fixture {
		if err := e.writeCertificateKubeconfig(person.name, person.name, person.roles[0].namespace); err != nil {
			return err
		}
	}
	return nil
}

// Somebody returns the configuration of a client of the cluster that acts as a
// user who is not of the fixture, by a certificate of the same authority.
func (e *Environment) Somebody(name string, groups ...string) (*rest.Config, error) {
	pair, err := e.issued.cluster.Client(name, groups...)
	if err != nil {
		return nil, err
	}
	return &rest.Config{
		Host: "https://" + e.ports.address(kubeAPIServer),
		TLSClientConfig: rest.TLSClientConfig{
			CAData:   e.issued.cluster.CertificatePEM(),
			CertData: pair.Certificate,
			KeyData:  pair.Key,
		},
	}, nil
}

func (e *Environment) writeCertificateKubeconfig(name, user, namespace string, groups ...string) error {
	pair, err := e.issued.cluster.Client(user, groups...)
	if err != nil {
		return err
	}
	return e.writeKubeconfig(name, namespace, &api.AuthInfo{
		ClientCertificateData: pair.Certificate,
		ClientKeyData:         pair.Key,
	})
}

// writeKubeconfig writes a kubeconfig that only its owner can read.
func (e *Environment) writeKubeconfig(name, namespace string, user *api.AuthInfo) error {
	const context = "devcluster"
	config := api.NewConfig()
	config.Clusters[context] = &api.Cluster{
		Server:                   "https://" + e.ports.address(kubeAPIServer),
		CertificateAuthorityData: e.issued.cluster.CertificatePEM(),
	}
	config.AuthInfos[name] = user
	config.Contexts[context] = &api.Context{Cluster: context, AuthInfo: name, Namespace: namespace}
	config.CurrentContext = context
	return clientcmd.WriteToFile(*config, e.Kubeconfig(name))
}
