// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	restclient "k8s.io/client-go/rest"

	computev1beta1 "github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/generated/clientset/versioned/scheme"
)

// InstanceExpansion has the methods of instances that cannot be generated. This
// file is written by hand; the generator leaves it where it is.
type InstanceExpansion interface {
	// GetLogs is the request for the console output of an instance's machine.
	// It is not sent yet: Stream follows it, DoRaw reads it to its end.
	GetLogs(name string, opts *computev1beta1.InstanceLogOptions) *restclient.Request
}

// GetLogs is the request for the console output of an instance's machine.
func (c *instances) GetLogs(name string, opts *computev1beta1.InstanceLogOptions) *restclient.Request {
	return c.GetClient().Get().
		Namespace(c.GetNamespace()).
		Resource("instances").
		Name(name).
		SubResource("log").
		VersionedParams(opts, scheme.ParameterCodec)
}
