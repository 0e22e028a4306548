// SPDX-License-Identifier: Apache-2.0

package admin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

var errNoName = errors.New("body: a server needs a name")

// sapling is the short way to say which server to plant.
type sapling struct {
	ID        string        `json:"id"`
	Name      string        `json:"name"`
	NetworkID ids.NetworkID `json:"networkId"`
	FlavorID  ids.FlavorID  `json:"flavorId"`
	ImageID   ids.ImageID   `json:"imageId"`
	Tags      []unikorn.Tag `json:"tags"`
}

func (s sapling) server() region.Server {
	return region.Server{
		Metadata: unikorn.ProjectScopedReadMetadata{ID: s.ID, Name: s.Name, Tags: s.Tags},
		Spec:     region.ServerSpec{FlavorID: s.FlavorID, ImageID: s.ImageID},
		Status:   region.ServerStatus{NetworkID: s.NetworkID},
	}
}

func (a *API) plantServer(r *http.Request) (any, error) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, fmt.Errorf("body: %w", err)
	}
	wanted, err := parseServer(raw)
	if err != nil {
		return nil, err
	}
	planted, err := a.World.PlantServer(wanted)
	if err != nil {
		return nil, err
	}
	return planted.Read(), nil
}

// parseServer reads a server in either form; only the long one has metadata.
func parseServer(raw []byte) (region.Server, error) {
	var form struct {
		Metadata json.RawMessage `json:"metadata"`
	}
	if err := json.Unmarshal(raw, &form); err != nil {
		return region.Server{}, fmt.Errorf("body: %w", err)
	}
	var server region.Server
	if form.Metadata != nil {
		if err := json.Unmarshal(raw, &server); err != nil {
			return region.Server{}, fmt.Errorf("body: %w", err)
		}
	} else {
		short, err := decode[sapling](bytes.NewReader(raw))
		if err != nil {
			return region.Server{}, err
		}
		server = short.server()
	}
	if server.Metadata.Name == "" {
		return region.Server{}, errNoName
	}
	return server, nil
}

func (a *API) uprootServer(r *http.Request) (any, error) {
	return nil, a.World.UprootServer(ids.ServerID(r.PathValue("serverID")))
}
