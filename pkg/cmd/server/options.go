// SPDX-License-Identifier: Apache-2.0

// Package server is the command that runs the instance API server.
package server

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	cliflag "k8s.io/component-base/cli/flag"
	logsapi "k8s.io/component-base/logs/api/v1"

	"github.com/unikorn-cloud/instance-apiserver/pkg/cmd/platform"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
)

const usernamePrefixFlag = "principal-username-prefix"

// Options are the flags of the instance API server.
type Options struct {
	// Generic are those of every API server, but for etcd, which this one does
	// not have.
	Generic  *genericoptions.RecommendedOptions
	Platform *platform.Options
	Callers  principal.Resolver
	Logs     *logsapi.LoggingConfiguration
}

// NewOptions returns options with defaults.
func NewOptions() *Options {
	generic := genericoptions.NewRecommendedOptions("", nil)
	generic.Etcd = nil
	generic.SecureServing.BindPort = 8443
	return &Options{
		Generic:  generic,
		Platform: platform.NewOptions(),
		Logs:     logsapi.NewLoggingConfiguration(),
	}
}

// Flags returns the flags, grouped for --help.
func (o *Options) Flags() cliflag.NamedFlagSets {
	var sets cliflag.NamedFlagSets
	o.Platform.AddFlags(sets.FlagSet("platform"))
	o.addCallerFlags(sets.FlagSet("callers"))
	o.Generic.SecureServing.AddFlags(sets.FlagSet("secure serving"))
	o.Generic.CoreAPI.AddFlags(sets.FlagSet("host cluster"))
	o.Generic.Authentication.AddFlags(sets.FlagSet("authentication"))
	o.Generic.Authorization.AddFlags(sets.FlagSet("authorization"))
	o.Generic.Audit.AddFlags(sets.FlagSet("auditing"))
	o.Generic.Admission.AddFlags(sets.FlagSet("admission"))
	o.Generic.Features.AddFlags(sets.FlagSet("features"))
	o.Generic.EgressSelector.AddFlags(sets.FlagSet("egress selector"))
	o.Generic.Traces.AddFlags(sets.FlagSet("traces"))
	utilfeature.DefaultMutableFeatureGate.AddFlag(sets.FlagSet("features"))
	logsapi.AddFlags(o.Logs, sets.FlagSet("logs"))
	return sets
}

func (o *Options) addCallerFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Callers.UsernamePrefix, usernamePrefixFlag, o.Callers.UsernamePrefix,
		"What the cluster's authenticator puts before the names by which the identity service knows people, such as oidc:. May be empty, but must be given: a wrong one takes people for others.")
	flags.StringSliceVar(&o.Callers.PlatformGroups, "platform-groups", o.Callers.PlatformGroups,
		"Groups whose members operate the platform and are unknown to the identity service, such as system:masters. References of theirs are looked up with the rights of this server.")
}

// Validate says what is wrong with the options, all at once.
func (o *Options) Validate(flags *pflag.FlagSet) error {
	var errs []error
	for _, validate := range []func() []error{
		o.Generic.SecureServing.Validate,
		o.Generic.Authentication.Validate,
		o.Generic.Authorization.Validate,
		o.Generic.Audit.Validate,
		o.Generic.Features.Validate,
		o.Generic.CoreAPI.Validate,
		o.Generic.Admission.Validate,
		o.Generic.EgressSelector.Validate,
		o.Generic.Traces.Validate,
	} {
		errs = append(errs, validate()...)
	}
	errs = append(errs, o.Platform.Validate())
	if !flags.Changed(usernamePrefixFlag) {
		errs = append(errs, fmt.Errorf("--%s is required; give it empty if names of people have no prefix", usernamePrefixFlag))
	}
	if strings.HasPrefix(o.Callers.UsernamePrefix, "system:") {
		errs = append(errs, errors.New("--"+usernamePrefixFlag+" must not start with system:, which is not of people"))
	}
	return errors.Join(errs...)
}
