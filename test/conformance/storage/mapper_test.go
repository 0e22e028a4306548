// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/apis/example"
	examplev1 "k8s.io/apiserver/pkg/apis/example/v1"

	"github.com/unikorn-cloud/instance-apiserver/pkg/storage/crbacked"
)

// corruptNode is the node name that makes a stored pod corrupt.
const corruptNode = "corrupt"

var scheme = runtime.NewScheme()

func init() {
	utilruntime.Must(example.AddToScheme(scheme))
	utilruntime.Must(examplev1.AddToScheme(scheme))
}

// podMapper maps the suite's pods one to one.
type podMapper struct {
	// failing makes every stored pod corrupt.
	failing *atomic.Bool
	// crName names the custom resource of a new pod.
	crName func(*example.Pod) string
}

type mapper = crbacked.Mapper[*example.Pod, *PodRecord]

var (
	_ mapper = podMapper{}
	_ mapper = givenMapper{}
)

func plainly(m podMapper) mapper { return m }
func asGiven(m podMapper) mapper { return givenMapper{m} }

func ownName(pod *example.Pod) string { return pod.Name }

// prefixedName gives the custom resource another name than the pod's, in the
// order that the suite expects of a list.
func prefixedName(pod *example.Pod) string { return "record-" + pod.Name }

func (podMapper) NewObject() *example.Pod { return &example.Pod{} }

func (podMapper) NewResource() *PodRecord { return &PodRecord{} }

func (m podMapper) CRName(pod *example.Pod) (string, error) { return m.crName(pod), nil }

func (m podMapper) ToObject(record *PodRecord, pod *example.Pod) *crbacked.Corruption {
	versioned := examplev1.Pod{ObjectMeta: pod.ObjectMeta, Spec: record.Spec.Pod.Spec, Status: record.Spec.Pod.Status}
	if err := scheme.Convert(&versioned, pod, nil); err != nil {
		return &crbacked.Corruption{Field: "spec.pod", Reason: err.Error()}
	}
	if m.failing.Load() || pod.Spec.NodeName == corruptNode {
		return &crbacked.Corruption{Field: "spec.pod", Reason: "is corrupt by order of the test"}
	}
	return nil
}

func (podMapper) ToCR(pod *example.Pod, record *PodRecord) error {
	var versioned examplev1.Pod
	if err := scheme.Convert(pod.DeepCopy(), &versioned, nil); err != nil {
		return err
	}
	record.Spec.Pod = PodContent{Spec: versioned.Spec, Status: versioned.Status}
	record.Spec.NodeName = pod.Spec.NodeName
	return nil
}

// givenMapper gives pods the metadata that the suite gave them, where servers
// have it their way.
type givenMapper struct{ podMapper }

func (m givenMapper) ToObject(record *PodRecord, pod *example.Pod) *crbacked.Corruption {
	corruption := m.podMapper.ToObject(record, pod)
	// The name stays the storage's: some tests change it in the middle of an
	// update, for the sake of a change.
	pod.UID = record.Spec.Given.UID
	pod.Generation = record.Spec.Given.Generation
	pod.CreationTimestamp = record.Spec.Given.CreationTimestamp
	return corruption
}

func (m givenMapper) ToCR(pod *example.Pod, record *PodRecord) error {
	record.Spec.Given = Given{
		Name:              pod.Name,
		UID:               pod.UID,
		Generation:        pod.Generation,
		CreationTimestamp: pod.CreationTimestamp,
	}
	return m.podMapper.ToCR(pod, record)
}
