// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
)

func TestErrorsAboutBodiesShowNothingOfThem(t *testing.T) {
	const (
		json = runtime.ContentTypeJSON
		yaml = runtime.ContentTypeYAML
	)
	tests := map[string]struct {
		mediaType, body string
		want            string
	}{
		"unfinished":        {json, `{"spec":{"userData":"hunter2`, "malformed JSON at byte 28"},
		"wrong character":   {json, `{"spec":{"userData":hunter2}}`, "malformed JSON at byte 21"},
		"empty":             {json, ``, "malformed JSON at byte 0"},
		"not base64":        {json, `{"spec":{"userData":"#cloud-config hunter2"}}`, "spec.userData: must be base64"},
		"a number":          {json, `{"spec":{"userData":177777}}`, "json: cannot unmarshal number into Go struct field InstanceSpec.spec.userData of type []uint8"},
		"a number too long": {json, `{"metadata":{"generation":177777177777177777177777}}`, "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.generation of type int64"},
		"no object":         {json, `"hunter2"`, "json: cannot unmarshal string into Go value"},
		"kind of a number":  {json, `{"kind":177777}`, "json: cannot unmarshal number into Go struct field .kind of type string"},
		"no version":        {json, `{"apiVersion":"hunter2/","spec":{"userData":"hunter2"}}`, "apiVersion and kind must name a version and a kind"},
		"too many versions": {json, `{"apiVersion":"hunter2/hunter2/hunter2"}`, "a value does not have the form it must have"},
		"no time":           {json, `{"metadata":{"creationTimestamp":"hunter2"}}`, "a time must be in the form of RFC 3339"},
		"unknown field":     {json, `{"spec":{"cloudInit":"hunter2"}}`, `strict decoding error: unknown field "spec.cloudInit"`},
		"another kind":      {json, `{"apiVersion":"v1","kind":"Pod","spec":{"userData":"hunter2"}}`, `no kind "Pod" is registered for version "v1" in scheme`},
		"kind of another":   {json, `{"apiVersion":"compute.unikorn-cloud.org/v1beta1","kind":"InstanceConsole"}`, "kind must be Instance"},
		"malformed YAML":    {yaml, "spec:\n  userData: hunter2: hunter2", "malformed YAML at line 2"},
		"unknown anchor":    {yaml, "spec:\n  userData: *hunter2", "malformed YAML"},
		"YAML, not base64":  {yaml, "spec:\n  userData: hunter2 hunter2", "spec.userData: must be base64"},
		"YAML of text":      {yaml, "hunter2", "json: cannot unmarshal string"},
		"YAML with a twice": {yaml, "spec: {userData: aHVudGVyMg==, userData: aHVudGVyMg==}", `key "userData" already set in map`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			info, ok := runtime.SerializerInfoForMediaType(negotiated.SupportedMediaTypes(), test.mediaType)
			if !ok {
				t.Fatal(test.mediaType)
			}
			defaults := v1beta1.SchemeGroupVersion.WithKind("Instance")
			_, kind, err := negotiated.DecoderToVersion(info.StrictSerializer, compute.SchemeGroupVersion).Decode([]byte(test.body), &defaults, &v1beta1.Instance{})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got  %v\nwant %s", err, test.want)
			}
			if kind == nil || kind.Kind == "" {
				t.Error("without a kind the body is shown")
			}
			for _, secret := range []string{"hunter2", "177777", "aHVudGVyMg"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("%v shows what was sent", err)
				}
			}
		})
	}
}
