// SPDX-License-Identifier: Apache-2.0

package simulator_test

import (
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// Ids of the fixture's networks and what hangs on them.
const (
	alphaNet  ids.NetworkID                 = "0d000000-0000-4000-8000-0000000000d1"
	alphaNet2 ids.NetworkID                 = "0d000000-0000-4000-8000-0000000000d2"
	betaNet   ids.NetworkID                 = "0d000000-0000-4000-8000-0000000000d3"
	gammaNet  ids.NetworkID                 = "0d000000-0000-4000-8000-0000000000d4"
	alphaSG   ids.SecurityGroupID           = "0e000000-0000-4000-8000-0000000000e1"
	alphaSG2  ids.SecurityGroupID           = "0e000000-0000-4000-8000-0000000000e2"
	alphaCA   ids.SSHCertificateAuthorityID = "0f000000-0000-4000-8000-0000000000f1"
	betaCA    ids.SSHCertificateAuthorityID = "0f000000-0000-4000-8000-0000000000f2"
	missing                                 = "0d000000-0000-4000-8000-00000000dead"
)

const (
	serversPath = "/api/v2/servers"
	tagName     = "compute.unikorn-cloud.org/instance-id"
)

// serverCreate is a server that can be made.
func serverCreate(name string) region.ServerCreate {
	return region.ServerCreate{
		Metadata: unikorn.WriteMetadata{Name: name, Tags: []unikorn.Tag{{Name: tagName, Value: "x-" + name}}},
		Spec:     region.ServerCreateSpec{NetworkID: alphaNet, FlavorID: world.FlavorStandard, ImageID: world.ImageUbuntu},
	}
}

// serverUpdate is the update that changes nothing of a server.
func serverUpdate(server region.Server) region.ServerUpdate {
	return region.ServerUpdate{
		Metadata: unikorn.WriteMetadata{
			Name: server.Metadata.Name, Description: server.Metadata.Description, Tags: server.Metadata.Tags,
		},
		Spec: server.Spec,
	}
}

// created makes a server.
func (h *harness) created(create region.ServerCreate) region.Server {
	GinkgoHelper()
	return decoded[region.Server](h.compute().post(serversPath, create), http.StatusCreated)
}

// running makes a server and waits until it runs.
func (h *harness) running(create region.ServerCreate) region.Server {
	GinkgoHelper()
	server := h.created(create)
	h.step(3000)
	server = h.read(server)
	Expect(server.Status.PowerState).To(Equal(region.PowerRunning))
	return server
}

func pathOf(server region.Server) string {
	return serversPath + "/" + server.Metadata.ID
}

// read reads a server that is there.
func (h *harness) read(server region.Server) region.Server {
	GinkgoHelper()
	return decoded[region.Server](h.compute().get(pathOf(server)), http.StatusOK)
}

// names returns the names of a list.
func names(a answer) []string {
	GinkgoHelper()
	found := []string{}
	for _, item := range decoded[[]struct {
		Metadata struct{ Name string }
	}](a, http.StatusOK) {
		found = append(found, item.Metadata.Name)
	}
	return found
}
