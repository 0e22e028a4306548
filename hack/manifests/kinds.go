// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/yaml"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
)

// known are the kinds whose Go types are at hand.
var known = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme,
		apiextensionsv1.AddToScheme,
		apiregistrationv1.AddToScheme,
		auditv1.AddToScheme,
		v1beta1.AddToScheme,
	} {
		utilruntime.Must(add(scheme))
	}
	return scheme
}()

var decoder = serializer.NewCodecFactory(known, serializer.EnableStrict).UniversalDeserializer()

// described are the kinds of cert-manager, of which certmanager.go has what is used:
// its module would be a dependency for two manifests.
var described = map[schema.GroupVersionKind]func() any{
	certManager.WithKind("Certificate"): func() any { return new(certificate) },
	certManager.WithKind("Issuer"):      func() any { return new(issuer) },
}

var errUntrusted = errors.New("spec.insecureSkipTLSVerify: whoever answers would be taken for the API server")

func checkDocument(document []byte) error {
	var object struct {
		runtime.TypeMeta `json:",inline"`
		Metadata         struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	if err := yaml.Unmarshal(document, &object); err != nil {
		return err
	}
	kind := schema.FromAPIVersionAndKind(object.APIVersion, object.Kind)
	if err := decode(document, kind); err != nil {
		return fmt.Errorf("%s %q: %w", object.Kind, object.Metadata.Name, err)
	}
	return nil
}

func decode(document []byte, kind schema.GroupVersionKind) error {
	if empty, ok := described[kind]; ok {
		return yaml.UnmarshalStrict(document, empty())
	}
	object, _, err := decoder.Decode(document, nil, nil)
	if err != nil {
		return err
	}
	if service, ok := object.(*apiregistrationv1.APIService); ok && service.Spec.InsecureSkipTLSVerify {
		return errUntrusted
	}
	return nil
}
