// SPDX-License-Identifier: Apache-2.0

package region_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// TestWhatRefusalsAreAbout tells refusals of what was asked from those that say
// that service and client do not understand each other.
func TestWhatRefusalsAreAbout(t *testing.T) {
	list := func(c *region.Client) error {
		_, err := c.Flavors(t.Context(), principal.Service(alice), acme, north)
		return err
	}
	create := func(c *region.Client) error {
		_, err := c.CreateServer(t.Context(), principal.Service(alice), region.ServerCreate{})
		return err
	}
	key := func(c *region.Client) error {
		_, err := c.SSHKey(t.Context(), principal.Service(alice), "a")
		return err
	}
	session := func(c *region.Client) error {
		_, err := c.CreateConsoleSession(t.Context(), principal.Service(alice), "a")
		return err
	}
	tests := map[string]struct {
		call   func(*region.Client) error
		status int
		code   unikorn.ErrorCode
		want   unikorn.Kind
	}{
		"a list that is not understood": {list, 422, unikorn.UnprocessableContent, unikorn.ServiceRefused},
		"a list in conflict":            {list, 409, unikorn.Conflict, unikorn.ServiceRefused},
		"a name that is taken":          {create, 409, unikorn.Conflict, unikorn.Refused},
		"a key in conflict":             {key, 409, unikorn.Conflict, unikorn.Refused},
		"a key that breaks a rule":      {key, 422, unikorn.UnprocessableContent, unikorn.Refused},
		"a key that is not understood":  {key, 400, unikorn.InvalidRequest, unikorn.ServiceRefused},
		"a session in conflict":         {session, 409, unikorn.Conflict, unikorn.Refused},
		"a session in a wrong state":    {session, 400, unikorn.InvalidRequest, unikorn.Refused},
		"a server that breaks a rule":   {create, 422, unikorn.UnprocessableContent, unikorn.Refused},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			client, _ := serve(t, test.status, fmt.Sprintf(`{"error":%q,"error_description":"x"}`, test.code))
			var failed *unikorn.Error
			if err := test.call(client); !errors.As(err, &failed) || failed.Kind != test.want {
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
}
