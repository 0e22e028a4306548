// SPDX-License-Identifier: Apache-2.0

package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// certManager is the version of cert-manager's API that the manifests use.
var certManager = schema.GroupVersion{Group: "cert-manager.io", Version: "v1"}

// certificate has those fields of cert-manager's Certificate that a manifest of
// ours may need.
type certificate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		CommonName  string          `json:"commonName"`
		Duration    metav1.Duration `json:"duration"`
		RenewBefore metav1.Duration `json:"renewBefore"`
		DNSNames    []string        `json:"dnsNames"`
		SecretName  string          `json:"secretName"`
		IsCA        bool            `json:"isCA"`
		Usages      []string        `json:"usages"`
		PrivateKey  struct {
			Algorithm      string `json:"algorithm"`
			Size           int    `json:"size"`
			RotationPolicy string `json:"rotationPolicy"`
		} `json:"privateKey"`
		IssuerRef struct {
			Name  string `json:"name"`
			Kind  string `json:"kind"`
			Group string `json:"group"`
		} `json:"issuerRef"`
	} `json:"spec"`
}

// issuer has those fields of cert-manager's Issuer.
type issuer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		SelfSigned struct{} `json:"selfSigned"`
		CA         struct {
			SecretName string `json:"secretName"`
		} `json:"ca"`
	} `json:"spec"`
}
