// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
)

// +kubebuilder:object:root=true
// +kubebuilder:resource:path=computeinstances,singular=computeinstance,scope=Namespaced
// +kubebuilder:subresource:status
// +kubebuilder:selectablefield:JSONPath=`.spec.flavorId`
// +kubebuilder:selectablefield:JSONPath=`.spec.imageId`
// +kubebuilder:printcolumn:name="display name",type=string,JSONPath=`.metadata.labels['unikorn-cloud\.org/name']`
// +kubebuilder:printcolumn:name="status",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].reason`
// +kubebuilder:printcolumn:name="age",type=date,JSONPath=`.metadata.creationTimestamp`
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ComputeInstance stores an instance of the compute service. Instances are
// used through the API compute.unikorn-cloud.org/v1beta1, kind Instance; this
// resource is for the services behind it.
type ComputeInstance struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired machine.
	Spec ComputeInstanceSpec `json:"spec"`
	// status is what the controller last saw.
	// +optional
	Status ComputeInstanceStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ComputeInstanceList is a list of ComputeInstances.
type ComputeInstanceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the ComputeInstances.
	Items []ComputeInstance `json:"items"`
}

// ComputeInstanceSpec is the desired machine. Its owner, region and network
// are in the object's labels.
type ComputeInstanceSpec struct {
	// flavorId is the size of the machine.
	FlavorID ids.FlavorID `json:"flavorId"`

	// imageId is the image the machine boots from.
	ImageID ids.ImageID `json:"imageId"`

	// diskSize is not used for instances.
	// +optional
	DiskSize *resource.Quantity `json:"diskSize,omitempty"`

	// replicas is not used for instances.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Replicas *int `json:"replicas,omitempty"`

	// pause stops the controller from changing the machine.
	// +optional
	Pause bool `json:"pause,omitempty"`

	// tags are the user's names with values.
	// +optional
	// +listType=atomic
	Tags []Tag `json:"tags,omitempty"`

	// networking is how the machine is reached.
	// +optional
	Networking *ComputeInstanceNetworking `json:"networking,omitempty"`

	// sshCertificateAuthorityId is the SSH certificate authority whose
	// certificates log in to the machine.
	// +optional
	SSHCertificateAuthorityID ids.SSHCertificateAuthorityID `json:"sshCertificateAuthorityId,omitempty"`

	// userData is handed to cloud-init at the first boot. In YAML and JSON it
	// is written in base64.
	// +optional
	UserData []byte `json:"userData,omitempty"`
}

// Tag is a name with a value.
type Tag struct {
	// name is the tag's name.
	Name string `json:"name"`
	// value is the tag's value.
	Value string `json:"value"`
}

// ComputeInstanceNetworking is how the machine is reached.
type ComputeInstanceNetworking struct {
	// publicIp asks for a public address.
	// +optional
	PublicIP bool `json:"publicIp,omitempty"`

	// securityGroupIDs are security groups of the network.
	// +optional
	// +listType=atomic
	SecurityGroupIDs []ids.SecurityGroupID `json:"securityGroupIDs,omitempty"`

	// allowedSourceAddresses are IPv4 prefixes the machine may send from.
	// +optional
	// +listType=atomic
	AllowedSourceAddresses []IPv4Prefix `json:"allowedSourceAddresses,omitempty"`
}

// IPv4Prefix is an IPv4 address and a prefix length, such as 10.1.0.0/24.
// +kubebuilder:validation:Pattern=`^((25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])\.){3}(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])/(3[0-2]|[12]?[0-9])$`
type IPv4Prefix string

// ComputeInstanceStatus is what the controller last saw.
type ComputeInstanceStatus struct {
	// privateIp is the address on the network.
	// +optional
	PrivateIP string `json:"privateIp,omitempty"`

	// publicIp is the public address.
	// +optional
	PublicIP string `json:"publicIp,omitempty"`

	// macAddress is the hardware address on the network.
	// +optional
	MACAddress string `json:"macAddress,omitempty"`

	// conditions are Available, Healthy and Active.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
