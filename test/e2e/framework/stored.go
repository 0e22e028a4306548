// SPDX-License-Identifier: Apache-2.0

package framework

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

// ComputeInstances are what is stored in namespace.
func ComputeInstances(namespace string) dynamic.ResourceInterface {
	GinkgoHelper()
	return computeInstancesAs(ConfigOf(environment.Admin)).Namespace(namespace)
}

// StoredAs are the ComputeInstances of namespace alpha as somebody may see them.
func StoredAs(config *rest.Config) dynamic.ResourceInterface {
	GinkgoHelper()
	return computeInstancesAs(config).Namespace(Alpha)
}

func computeInstancesAs(config *rest.Config) dynamic.NamespaceableResourceInterface {
	GinkgoHelper()
	client, err := dynamic.NewForConfig(config)
	Expect(err).NotTo(HaveOccurred())
	return client.Resource(v1alpha1.SchemeGroupVersion.WithResource("computeinstances"))
}

// Stored reads a ComputeInstance of namespace alpha.
func Stored(ctx context.Context, name string) *v1alpha1.ComputeInstance {
	GinkgoHelper()
	found, err := ComputeInstances(Alpha).Get(ctx, name, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	object := &v1alpha1.ComputeInstance{}
	Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, object)).To(Succeed())
	return object
}

// NewComputeInstance is what another writer of the platform stores for a name
// on alpha-net: complete, without a charge of its own.
func NewComputeInstance(name string, edits ...func(*v1alpha1.ComputeInstance)) *v1alpha1.ComputeInstance {
	GinkgoHelper()
	id, err := ids.InstanceObjectName(AlphaNet, name)
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
				v1alpha1.LabelNetwork:               string(AlphaNet),
			},
			Annotations: map[string]string{v1alpha1.AnnotationCreator: "another-writer"},
		},
		Spec: v1alpha1.ComputeInstanceSpec{FlavorID: Standard, ImageID: Ubuntu},
	}
	for _, edit := range edits {
		edit(object)
	}
	return object
}

// Untyped is the object as a dynamic client takes it.
func Untyped(object *v1alpha1.ComputeInstance) *unstructured.Unstructured {
	GinkgoHelper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	Expect(err).NotTo(HaveOccurred())
	return &unstructured.Unstructured{Object: content}
}

// Plant stores an object as another writer does, and returns its name, which is
// also that of its Instance.
func Plant(ctx context.Context, object *v1alpha1.ComputeInstance) string {
	GinkgoHelper()
	_, err := StoredAs(ConfigOf(environment.Admin)).Create(ctx, Untyped(object), metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	return object.Name
}
