// SPDX-License-Identifier: Apache-2.0

//go:build tools

// Package kubernetes pins the commands of the control plane, so that go mod
// tidy keeps what they need in go.sum.
package kubernetes

import (
	_ "go.etcd.io/etcd/server/v3"
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
	_ "k8s.io/kubernetes/cmd/kubectl"
)
