// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
)

// hostTimeout is how long the host cluster may take to answer at start.
const hostTimeout = time.Minute

// ClusterUID is what tells the host cluster's allocations from those of others:
// the uid of its namespace kube-system.
func ClusterUID(ctx context.Context, host kubernetes.Interface) (string, error) {
	var uid string
	err := wait.PollUntilContextTimeout(ctx, time.Second, hostTimeout, true, func(ctx context.Context) (bool, error) {
		namespace, err := host.CoreV1().Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
		if err != nil {
			klog.FromContext(ctx).Info("Waiting for the host cluster", "err", err)
			return false, nil
		}
		uid = string(namespace.UID)
		return true, nil
	})
	if err != nil {
		return "", fmt.Errorf("read namespace %s of the host cluster, which names it: %w", metav1.NamespaceSystem, err)
	}
	return uid, nil
}
