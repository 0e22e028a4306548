// SPDX-License-Identifier: Apache-2.0

package storage

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	examplev1 "k8s.io/apiserver/pkg/apis/example/v1"
)

// PodRecord is the custom resource that keeps one of the suite's pods.
type PodRecord struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec PodRecordSpec `json:"spec"`
}

// PodRecordSpec holds the pod whole: the suite writes status through the main
// path, too.
type PodRecordSpec struct {
	// NodeName is the pod's, where the host can select by it.
	NodeName string `json:"nodeName"`

	Given Given      `json:"given,omitzero"`
	Pod   PodContent `json:"pod"`
}

// Given is the metadata which a server decides on, as the suite gave it: etcd
// decides on nothing.
type Given struct {
	Name              string      `json:"name"`
	UID               types.UID   `json:"uid"`
	Generation        int64       `json:"generation"`
	CreationTimestamp metav1.Time `json:"creationTimestamp"`
}

// PodContent is what of a pod is not metadata.
type PodContent struct {
	Spec   examplev1.PodSpec   `json:"spec"`
	Status examplev1.PodStatus `json:"status"`
}

var _ runtime.Object = &PodRecord{}

// DeepCopyObject implements runtime.Object.
func (p *PodRecord) DeepCopyObject() runtime.Object {
	out := *p
	p.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	p.Spec.Pod.Spec.DeepCopyInto(&out.Spec.Pod.Spec)
	p.Spec.Pod.Status.DeepCopyInto(&out.Spec.Pod.Status)
	return &out
}

// GetObjectKind implements runtime.Object.
func (p *PodRecord) GetObjectKind() schema.ObjectKind { return &p.TypeMeta }
