// SPDX-License-Identifier: Apache-2.0

// Package controller is the command that runs the instance controller.
package controller

import (
	"errors"
	"time"

	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
	logsapi "k8s.io/component-base/logs/api/v1"

	"github.com/unikorn-cloud/instance-apiserver/pkg/cmd/platform"
	"github.com/unikorn-cloud/instance-apiserver/pkg/controller"
)

// Options are the flags of the instance controller.
type Options struct {
	Platform *platform.Options
	Host     HostOptions
	Election ElectionOptions
	Timing   controller.Timing
	// Workers is how many objects are worked on at a time.
	Workers int

	MetricsAddress string
	HealthAddress  string

	Logs *logsapi.LoggingConfiguration
}

// HostOptions say how to reach the host cluster.
type HostOptions struct {
	// Kubeconfig is a file; without one the pod's service account is used.
	Kubeconfig string
	// QPS and Burst bound the requests per second to it.
	QPS   float32
	Burst int
}

// ElectionOptions say how replicas agree on which of them works.
type ElectionOptions struct {
	Enabled   bool
	Namespace string
	// LeaseDuration, RenewDeadline and RetryPeriod are those of client-go's
	// leader election.
	LeaseDuration time.Duration
	RenewDeadline time.Duration
	RetryPeriod   time.Duration
}

// NewOptions returns options with defaults.
func NewOptions() *Options {
	return &Options{
		Platform: platform.NewOptions(),
		Host:     HostOptions{QPS: 100, Burst: 200},
		Election: ElectionOptions{
			Enabled:       true,
			Namespace:     "unikorn-compute",
			LeaseDuration: 15 * time.Second,
			RenewDeadline: 10 * time.Second,
			RetryPeriod:   2 * time.Second,
		},
		Timing:         controller.DefaultTiming,
		Workers:        10,
		MetricsAddress: ":8080",
		HealthAddress:  ":8081",
		Logs:           logsapi.NewLoggingConfiguration(),
	}
}

// Flags returns the flags, grouped for --help.
func (o *Options) Flags() cliflag.NamedFlagSets {
	var sets cliflag.NamedFlagSets
	o.Platform.AddFlags(sets.FlagSet("platform"))
	o.Host.addFlags(sets.FlagSet("host cluster"))
	o.Election.addFlags(sets.FlagSet("leader election"))
	o.addControllerFlags(sets.FlagSet("controller"))
	o.addServingFlags(sets.FlagSet("serving"))
	logsapi.AddFlags(o.Logs, sets.FlagSet("logs"))
	return sets
}

func (o *HostOptions) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Kubeconfig, "kubeconfig", o.Kubeconfig, "File that says how to reach the cluster with the ComputeInstances. Without it the service account of the pod is used.")
	flags.Float32Var(&o.QPS, "kube-api-qps", o.QPS, "Requests per second to the cluster, on average.")
	flags.IntVar(&o.Burst, "kube-api-burst", o.Burst, "Requests to the cluster that may be made at once.")
}

func (o *ElectionOptions) addFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.Enabled, "leader-elect", o.Enabled, "Work only while holding the lease instance-controller, so that of several replicas one does.")
	flags.StringVar(&o.Namespace, "leader-elect-namespace", o.Namespace, "Namespace of the lease.")
	flags.DurationVar(&o.LeaseDuration, "leader-elect-lease-duration", o.LeaseDuration, "How long another replica waits for the lease to be renewed before it takes it.")
	flags.DurationVar(&o.RenewDeadline, "leader-elect-renew-deadline", o.RenewDeadline, "How long the replica that works tries to renew the lease before it gives up and exits.")
	flags.DurationVar(&o.RetryPeriod, "leader-elect-retry-period", o.RetryPeriod, "Wait between attempts to take or renew the lease.")
}

func (o *Options) addControllerFlags(flags *pflag.FlagSet) {
	flags.DurationVar(&o.Timing.Steady, "poll-interval", o.Timing.Steady, "How often the servers of a network are listed while none of them is expected to change.")
	flags.DurationVar(&o.Timing.Moving, "transition-poll-interval", o.Timing.Moving, "How often they are listed while one of them is. At most --poll-interval.")
	flags.DurationVar(&o.Timing.Resync, "quota-resync-interval", o.Timing.Resync, "How often what is charged for an instance is compared with what it costs.")
	flags.IntVar(&o.Workers, "concurrent-instance-syncs", o.Workers, "How many instances are worked on at a time.")
}

func (o *Options) addServingFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.MetricsAddress, "metrics-bind-address", o.MetricsAddress, "Address to serve /metrics at, over HTTP. 0 serves none.")
	flags.StringVar(&o.HealthAddress, "health-probe-bind-address", o.HealthAddress, "Address to serve /healthz and /readyz at, over HTTP. 0 serves none.")
}

// Validate says what is wrong with the options, all at once.
func (o *Options) Validate() error {
	errs := []error{o.Platform.Validate()}
	if o.Election.Enabled && o.Election.Namespace == "" {
		errs = append(errs, errors.New("--leader-elect-namespace is required with --leader-elect"))
	}
	for _, duration := range []struct {
		name  string
		value time.Duration
	}{
		{"poll-interval", o.Timing.Steady},
		{"transition-poll-interval", o.Timing.Moving},
		{"quota-resync-interval", o.Timing.Resync},
	} {
		if duration.value <= 0 {
			errs = append(errs, errors.New("--"+duration.name+" must be positive"))
		}
	}
	if o.Workers < 1 {
		errs = append(errs, errors.New("--concurrent-instance-syncs must be positive"))
	}
	return errors.Join(errs...)
}
