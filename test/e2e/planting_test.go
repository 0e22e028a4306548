// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/world"
)

// newComputeInstance is what another writer of the platform stores for a name
// on alpha-net: complete, without a charge of its own.
func newComputeInstance(name string, edits ...func(*v1alpha1.ComputeInstance)) *v1alpha1.ComputeInstance {
	GinkgoHelper()
	id, err := ids.InstanceObjectName(alphaNet, name)
	Expect(err).NotTo(HaveOccurred())
	object := &v1alpha1.ComputeInstance{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "ComputeInstance"},
		ObjectMeta: metav1.ObjectMeta{
			Name: string(id),
			Labels: map[string]string{
				v1alpha1.LabelName:                  name,
				v1alpha1.LabelOrganization:          string(world.Acme),
				v1alpha1.LabelProject:               string(world.Alpha),
				v1alpha1.LabelPrincipalOrganization: string(world.Acme),
				v1alpha1.LabelPrincipalProject:      string(world.Alpha),
				v1alpha1.LabelRegion:                string(world.North),
				v1alpha1.LabelNetwork:               string(alphaNet),
			},
			Annotations: map[string]string{v1alpha1.AnnotationCreator: "another-writer"},
		},
		Spec: v1alpha1.ComputeInstanceSpec{FlavorID: standard, ImageID: ubuntu},
	}
	for _, edit := range edits {
		edit(object)
	}
	return object
}

// storedAs are the ComputeInstances of namespace alpha as somebody may see them.
func storedAs(config *rest.Config) dynamic.ResourceInterface {
	GinkgoHelper()
	client, err := dynamic.NewForConfig(config)
	Expect(err).NotTo(HaveOccurred())
	return client.Resource(v1alpha1.SchemeGroupVersion.WithResource("computeinstances")).Namespace(alpha)
}

func untyped(object *v1alpha1.ComputeInstance) *unstructured.Unstructured {
	GinkgoHelper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	Expect(err).NotTo(HaveOccurred())
	return &unstructured.Unstructured{Object: content}
}

// plant stores an object as another writer does, and returns its name, which is
// also that of its Instance.
func plant(ctx context.Context, object *v1alpha1.ComputeInstance) string {
	GinkgoHelper()
	_, err := storedAs(configOf(environment.Admin)).Create(ctx, untyped(object), metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	return object.Name
}
