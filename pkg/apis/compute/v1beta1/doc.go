// SPDX-License-Identifier: Apache-2.0

// +k8s:openapi-gen=true
// +k8s:openapi-model-package=org.unikorn-cloud.compute.v1beta1
// +k8s:deepcopy-gen=package
// +k8s:conversion-gen=github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute
// +k8s:defaulter-gen=TypeMeta
// +k8s:validation-gen=TypesWithField=TypeMeta
// +k8s:validation-gen-scheme-registry=k8s.io/apimachinery/pkg/runtime.Scheme
// +groupName=compute.unikorn-cloud.org

// Package v1beta1 is version v1beta1 of the group compute.unikorn-cloud.org,
// served by the instance API server.
package v1beta1
