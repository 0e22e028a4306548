// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"time"
)

const (
	// probeTimeout bounds one look at a health endpoint.
	probeTimeout = 5 * time.Second
	// probeBytes of an answer appear in messages.
	probeBytes = 2 << 10
)

// answers returns a check that a URL answers 200. Servers are verified with the
// certificates of config.
func answers(url string, config *tls.Config) check {
	return func(ctx context.Context) error {
		transport := &http.Transport{TLSClientConfig: config.Clone()}
		defer transport.CloseIdleConnections()
		client := &http.Client{Transport: transport, Timeout: probeTimeout}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		body, err := io.ReadAll(io.LimitReader(response.Body, probeBytes))
		if err != nil {
			return err
		}
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s: %s", url, response.Status, bytes.TrimSpace(body))
		}
		return nil
	}
}
