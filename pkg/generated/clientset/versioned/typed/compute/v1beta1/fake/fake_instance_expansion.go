// SPDX-License-Identifier: Apache-2.0

package fake

import (
	"bytes"
	"io"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	restclient "k8s.io/client-go/rest"
	fakerest "k8s.io/client-go/rest/fake"
	core "k8s.io/client-go/testing"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/generated/clientset/versioned/scheme"
)

// GetLogs is a request that is answered with what a reactor for the
// subresource log returns, a *runtime.Unknown; without one there is no output.
// This file is written by hand; the generator leaves it where it is.
func (c *fakeInstances) GetLogs(name string, opts *v1beta1.InstanceLogOptions) *restclient.Request {
	found, err := c.Fake.Invokes(core.GenericActionImpl{
		ActionImpl: core.ActionImpl{
			Namespace:   c.Namespace(),
			Verb:        "get",
			Resource:    c.Resource(),
			Subresource: "log",
		},
		Value: opts,
	}, &runtime.Unknown{})
	var output []byte
	if unknown, ok := found.(*runtime.Unknown); ok && unknown != nil {
		output = unknown.Raw
	}
	client := &fakerest.RESTClient{
		Client: fakerest.CreateHTTPClient(func(*http.Request) (*http.Response, error) {
			if err != nil {
				return nil, err
			}
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader(output))}, nil
		}),
		NegotiatedSerializer: scheme.Codecs.WithoutConversion(),
		GroupVersion:         c.Kind().GroupVersion(),
	}
	return client.Get().Namespace(c.Namespace()).Resource("instances").Name(name).SubResource("log")
}
