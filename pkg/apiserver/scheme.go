// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/install"
	"github.com/unikorn-cloud/instance-apiserver/pkg/registry/compute/instance"
)

var (
	// Scheme knows the types that this server serves.
	Scheme = runtime.NewScheme()
	// Codecs are the encodings of those types.
	Codecs = serializer.NewCodecFactory(Scheme)
	// ParameterCodec decodes the query parameters of requests.
	ParameterCodec = runtime.NewParameterCodec(Scheme)

	// negotiated are the encodings that clients can choose from.
	negotiated = discreetDecoding{withoutProtobuf{Codecs}}
)

func init() {
	install.Install(Scheme)
	utilruntime.Must(instance.AddFieldLabelConversion(Scheme))

	// Status, options and discovery objects travel in the core group's v1.
	unversioned := schema.GroupVersion{Version: "v1"}
	metav1.AddToGroupVersion(Scheme, unversioned)
	Scheme.AddUnversionedTypes(unversioned,
		&metav1.Status{},
		&metav1.APIVersions{},
		&metav1.APIGroupList{},
		&metav1.APIGroup{},
		&metav1.APIResourceList{},
	)
}

// withoutProtobuf offers every encoding but protobuf, which the types cannot
// be written in. A client that prefers protobuf would be answered with an
// error instead of JSON: the namespace controller is one, and every namespace
// of the cluster would then hang in Terminating.
type withoutProtobuf struct {
	runtime.NegotiatedSerializer
}

// SupportedMediaTypes implements runtime.NegotiatedSerializer.
func (s withoutProtobuf) SupportedMediaTypes() []runtime.SerializerInfo {
	var supported []runtime.SerializerInfo
	for _, info := range s.NegotiatedSerializer.SupportedMediaTypes() {
		if info.MediaType != runtime.ContentTypeProtobuf {
			supported = append(supported, info)
		}
	}
	return supported
}
