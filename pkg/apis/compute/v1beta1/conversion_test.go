// SPDX-License-Identifier: Apache-2.0

package v1beta1_test

import (
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/install"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
)

func TestQueryParametersOfLog(t *testing.T) {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	for query, want := range map[string]struct {
		options compute.InstanceLogOptions
		refused string
	}{
		"":                               {},
		"tailLines=10&follow=true":       {options: compute.InstanceLogOptions{TailLines: ptr.To[int64](10), Follow: true}},
		"tailLines=-1&unknown=x":         {options: compute.InstanceLogOptions{TailLines: ptr.To[int64](-1)}},
		"tailLines=all":                  {refused: `tailLines: "all" is no number of lines: invalid syntax`},
		"tailLines=":                     {refused: `tailLines: "" is no number of lines: invalid syntax`},
		"tailLines=10000000000000000000": {refused: `tailLines: "10000000000000000000" is no number of lines: value out of range`},
	} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		options := compute.InstanceLogOptions{}
		err = runtime.NewParameterCodec(scheme).DecodeParameters(values, v1beta1.SchemeGroupVersion, &options)
		if want.refused != "" {
			if err == nil || err.Error() != want.refused {
				t.Errorf("%q: %v, want %s", query, err, want.refused)
			}
			continue
		}
		if diff := cmp.Diff(want.options, options); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got):\n%s", query, err, diff)
		}
	}
}
