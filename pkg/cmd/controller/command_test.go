// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

func TestFlags(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		// wrong is what the complaint is about, empty if there is none.
		wrong []string
	}{
		"all that is required": {args: required()},
		"nothing": {wrong: []string{
			"--region-host", "--region-ca-file", "--identity-host", "--identity-ca-file", "--client-cert-file", "--client-key-file",
		}},
		"all there are": {args: append(required(),
			"--kubeconfig=k", "--kube-api-qps=5", "--kube-api-burst=10", "--address-quota-kind=publicips",
			"--leader-elect=false", "--leader-elect-namespace=", "--poll-interval=1s", "--transition-poll-interval=1s",
			"--quota-resync-interval=1h", "--concurrent-instance-syncs=3",
			"--metrics-bind-address=:1", "--health-probe-bind-address=:2", "-v=2")},
		"no lease to hold": {args: append(required(), "--leader-elect-namespace="), wrong: []string{"--leader-elect-namespace"}},
		"no time": {
			args:  append(required(), "--poll-interval=0s", "--transition-poll-interval=-1s", "--quota-resync-interval=0s", "--concurrent-instance-syncs=0"),
			wrong: []string{"--poll-interval", "--transition-poll-interval", "--quota-resync-interval", "--concurrent-instance-syncs"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			options := NewOptions()
			flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
			for _, set := range options.Flags().FlagSets {
				flags.AddFlagSet(set)
			}
			if err := flags.Parse(test.args); err != nil {
				t.Fatal(err)
			}
			complaint := ""
			if err := options.Validate(); err != nil {
				complaint = err.Error()
			}
			if len(test.wrong) == 0 && complaint != "" {
				t.Error(complaint)
			}
			for _, flag := range test.wrong {
				if !strings.Contains(complaint, flag+" ") {
					t.Errorf("%q does not name %s", complaint, flag)
				}
			}
		})
	}
}

func required() []string {
	return []string{
		"--region-host=https://r", "--region-ca-file=a", "--identity-host=https://i", "--identity-ca-file=a",
		"--client-cert-file=c", "--client-key-file=k",
	}
}

// Both registries are served, and nothing twice.
func TestMetrics(t *testing.T) {
	mergeMetrics()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, family := range families {
		seen[family.GetName()]++
	}
	for _, name := range []string{"process_start_time_seconds", "go_goroutines", "kubernetes_build_info"} {
		if seen[name] != 1 {
			t.Errorf("%s is there %d times", name, seen[name])
		}
	}
}
