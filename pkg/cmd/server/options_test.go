// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/unikorn-cloud/instance-apiserver/pkg/cmd/server"
)

// required is the least that the server can be started with.
var required = []string{
	"--region-host=https://region.example",
	"--region-ca-file=ca.crt",
	"--identity-host=https://identity.example",
	"--identity-ca-file=ca.crt",
	"--client-cert-file=tls.crt",
	"--client-key-file=tls.key",
	"--principal-username-prefix=oidc:",
}

func parse(t *testing.T, args ...string) (*server.Options, *pflag.FlagSet) {
	t.Helper()
	options := server.NewOptions()
	flags := pflag.NewFlagSet("instance-apiserver", pflag.ContinueOnError)
	for _, set := range options.Flags().FlagSets {
		flags.AddFlagSet(set)
	}
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return options, flags
}

func TestRequiredFlagsAreEnough(t *testing.T) {
	options, flags := parse(t, required...)
	if err := options.Validate(flags); err != nil {
		t.Error(err)
	}
	if options.Platform.AddressKind != "floatingips" {
		t.Errorf("public addresses are charged to %q", options.Platform.AddressKind)
	}
	if options.Generic.SecureServing.BindPort != 8443 {
		t.Errorf("serves at port %d", options.Generic.SecureServing.BindPort)
	}
	if len(options.Callers.PlatformGroups) > 0 {
		t.Errorf("members of %v are beyond the platform's rights", options.Callers.PlatformGroups)
	}
}

func TestEveryMissingFlagIsNamed(t *testing.T) {
	options, flags := parse(t)
	err := options.Validate(flags)
	if err == nil {
		t.Fatal("no flags at all are enough")
	}
	lines := strings.Split(err.Error(), "\n")
	for i, arg := range required {
		name, _, _ := strings.Cut(arg, "=")
		if len(lines) != len(required) || !strings.HasPrefix(lines[i], name+" is required") {
			t.Errorf("%q does not have a line for %s", err, name)
		}
	}
}

func TestOneMissingFlagIsNamed(t *testing.T) {
	for i, missing := range required {
		name, _, _ := strings.Cut(missing, "=")
		t.Run(name, func(t *testing.T) {
			options, flags := parse(t, slices.Delete(slices.Clone(required), i, i+1)...)
			err := options.Validate(flags)
			if err == nil || !strings.Contains(err.Error(), name+" is required") {
				t.Errorf("got %v, want %s to be required", err, name)
			}
			if err != nil && strings.Count(err.Error(), "is required") != 1 {
				t.Errorf("%q names more than what is missing", err)
			}
		})
	}
}

func TestUsernamePrefix(t *testing.T) {
	tests := map[string]bool{"": true, "oidc:": true, "system:": false, "system:people:": false}
	for prefix, valid := range tests {
		t.Run(prefix, func(t *testing.T) {
			options, flags := parse(t, append(slices.Clone(required), "--principal-username-prefix="+prefix)...)
			if err := options.Validate(flags); (err == nil) != valid {
				t.Errorf("got %v, want valid %t", err, valid)
			}
			if options.Callers.UsernamePrefix != prefix {
				t.Errorf("prefix %q", options.Callers.UsernamePrefix)
			}
		})
	}
}

func TestThereIsNoEtcd(t *testing.T) {
	_, flags := parse(t)
	flags.VisitAll(func(flag *pflag.Flag) {
		if strings.Contains(flag.Name, "etcd") {
			t.Errorf("--%s", flag.Name)
		}
	})
}

func TestEveryFlagIsDescribed(t *testing.T) {
	_, flags := parse(t)
	flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Usage == "" {
			t.Errorf("--%s says nothing", flag.Name)
		}
	})
}

func TestCommandLineFaults(t *testing.T) {
	tests := map[string]struct {
		args []string
		says string
	}{
		"unknown flag": {[]string{"--nonsense"}, "--help"},
		"argument":     {[]string{"please"}, "please"},
		"no flags":     {nil, "--region-host is required"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			cmd := server.NewCommand()
			cmd.SetArgs(test.args)
			cmd.SetOut(io.Discard)
			cmd.SetErr(io.Discard)
			err := cmd.ExecuteContext(t.Context())
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want it to say %q", err, test.says)
			}
		})
	}
}
