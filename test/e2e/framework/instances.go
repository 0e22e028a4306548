// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	applyv1beta1 "github.com/unikorn-cloud/instance-apiserver/pkg/generated/applyconfiguration/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
)

// DryRun is the option of a request that changes nothing.
var DryRun = []string{metav1.DryRunAll}

// NewInstance is a valid Instance for namespace alpha.
func NewInstance(name string, edits ...func(*v1beta1.Instance)) *v1beta1.Instance {
	instance := &v1beta1.Instance{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       v1beta1.InstanceSpec{NetworkID: AlphaNet, FlavorID: Standard, ImageID: Ubuntu},
	}
	for _, edit := range edits {
		edit(instance)
	}
	return instance
}

// On puts an Instance on another network.
func On(network ids.NetworkID) func(*v1beta1.Instance) {
	return func(instance *v1beta1.Instance) { instance.Spec.NetworkID = network }
}

// Called sets the name on the network.
func Called(name string) func(*v1beta1.Instance) {
	return func(instance *v1beta1.Instance) { instance.Spec.Name = name }
}

// Labelled sets a label.
func Labelled(key, value string) func(*v1beta1.Instance) {
	return func(instance *v1beta1.Instance) { metav1.SetMetaDataLabel(&instance.ObjectMeta, key, value) }
}

// Sized sets the flavor.
func Sized(flavor ids.FlavorID) func(*v1beta1.Instance) {
	return func(instance *v1beta1.Instance) { instance.Spec.FlavorID = flavor }
}

// Booting sets the image.
func Booting(image ids.ImageID) func(*v1beta1.Instance) {
	return func(instance *v1beta1.Instance) { instance.Spec.ImageID = image }
}

// Trusting sets the SSH certificate authority.
func Trusting(authority ids.SSHCertificateAuthorityID) func(*v1beta1.Instance) {
	return func(instance *v1beta1.Instance) { instance.Spec.SSHCertificateAuthorityID = authority }
}

// Behind sets the security groups.
func Behind(groups ...ids.SecurityGroupID) func(*v1beta1.Instance) {
	return func(instance *v1beta1.Instance) { instance.Spec.Networking.SecurityGroupIDs = groups }
}

// Started sets the user data.
func Started(userData []byte) func(*v1beta1.Instance) {
	return func(instance *v1beta1.Instance) { instance.Spec.UserData = userData }
}

// Create makes an Instance in namespace alpha.
func Create(ctx context.Context, name string, edits ...func(*v1beta1.Instance)) *v1beta1.Instance {
	GinkgoHelper()
	created, err := InAlpha().Create(ctx, NewInstance(name, edits...), metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	return created
}

// CreateIn creates an Instance as person in namespace.
func CreateIn(ctx context.Context, person, namespace string, instance *v1beta1.Instance) error {
	GinkgoHelper()
	_, err := InstancesAs(person, namespace).Create(ctx, instance, metav1.CreateOptions{})
	return err
}

// Get returns nil for an Instance of namespace alpha that does not exist.
func Get(ctx context.Context, name string) *v1beta1.Instance {
	GinkgoHelper()
	found, err := InAlpha().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	Expect(err).NotTo(HaveOccurred())
	return found
}

// Merge sends person's merge patch of an Instance of namespace alpha.
func Merge(ctx context.Context, person, name, patch string, options ...metav1.PatchOptions) (*v1beta1.Instance, error) {
	GinkgoHelper()
	return InstancesAs(person, Alpha).Patch(ctx, name, types.MergePatchType, []byte(patch), append(options, metav1.PatchOptions{})[0])
}

// Applied is what somebody declares with server-side apply.
type Applied = applyv1beta1.InstanceApplyConfiguration

// Declared is the least a manager can say of an Instance in namespace alpha
// that may not exist yet, and its spec, to say more in.
func Declared(name string) (*Applied, *applyv1beta1.InstanceSpecApplyConfiguration) {
	wanted := applyv1beta1.InstanceSpec().WithNetworkID(AlphaNet).WithFlavorID(Standard).WithImageID(Ubuntu)
	return applyv1beta1.Instance(name, Alpha).WithSpec(wanted), wanted
}

// Tagged declares nothing but a tag.
func Tagged(name, tag, value string) *Applied {
	return applyv1beta1.Instance(name, Alpha).WithSpec(applyv1beta1.InstanceSpec().
		WithTags(applyv1beta1.Tag().WithName(tag).WithValue(value)))
}

// Apply applies as manager, who fails when others disagree.
func Apply(ctx context.Context, wanted *Applied, manager string) (*v1beta1.Instance, error) {
	GinkgoHelper()
	return InAlpha().Apply(ctx, wanted, metav1.ApplyOptions{FieldManager: manager})
}
