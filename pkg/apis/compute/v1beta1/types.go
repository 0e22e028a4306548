// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
)

// +genclient
// +genclient:noStatus
// +genclient:method=GetPower,verb=get,subresource=power,result=github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1.InstancePower
// +genclient:method=CreatePower,verb=create,subresource=power,input=github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1.InstancePower,result=github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1.InstancePower
// +genclient:method=CreateConsole,verb=create,subresource=console,input=github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1.InstanceConsole,result=github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1.InstanceConsole
// +genclient:method=CreateSnapshot,verb=create,subresource=snapshot,input=github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1.InstanceSnapshot,result=github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1.InstanceSnapshot
// +genclient:method=CreateSSHKey,verb=create,subresource=sshkey,input=github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1.InstanceSSHKey,result=github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1.InstanceSSHKey
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Instance is a machine on a network of the platform. It is created in the
// namespace of the project that owns the network, charged to the quota of the
// project's organization, and kept running by the platform until it is
// deleted.
type Instance struct {
	// +k8s:opaqueType
	metav1.TypeMeta `json:""`
	// metadata is the standard object's metadata. The name is a DNS label of at
	// most 63 characters.
	// +optional
	// +k8s:opaqueType
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the user wants.
	Spec InstanceSpec `json:"spec"`
	// status is what was last seen of the machine. It is read-only.
	// +optional
	Status InstanceStatus `json:"status,omitzero"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// InstanceList is a list of instances.
type InstanceList struct {
	// +k8s:opaqueType
	metav1.TypeMeta `json:""`
	// metadata is the standard list metadata.
	// +optional
	// +k8s:opaqueType
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the instances.
	Items []Instance `json:"items"`
}

// InstanceSpec names things of the platform by their ids, which are lowercase
// UUIDs. The platform's region service lists what there is; this API does not.
type InstanceSpec struct {
	// name is the host name of the machine and its name on the network, where
	// no other machine may have it: 1 to 63 letters, digits, dashes,
	// underscores and dots, starting and ending with a letter or digit.
	// Defaults to metadata.name. It cannot be changed.
	// +optional
	// +k8s:optional
	// +k8s:immutable
	// +k8s:maxLength=63
	// +k8s:validation:maxLength=63
	Name string `json:"name,omitempty"`

	// organizationID is the organization that owns the instance. Defaults to
	// the namespace's organization, and must match it. It cannot be changed.
	// +optional
	// +k8s:optional
	// +k8s:immutable
	// +k8s:format=k8s-uuid
	OrganizationID ids.OrganizationID `json:"organizationID,omitempty"`

	// projectID is the project that owns the instance. Defaults to the
	// namespace's project, and must match it. It cannot be changed.
	// +optional
	// +k8s:optional
	// +k8s:immutable
	// +k8s:format=k8s-uuid
	ProjectID ids.ProjectID `json:"projectID,omitempty"`

	// networkID is the network the machine is on. It decides the region, and
	// must belong to the project of the namespace. It cannot be changed.
	// +required
	// +k8s:required
	// +k8s:immutable
	// +k8s:format=k8s-uuid
	NetworkID ids.NetworkID `json:"networkID"`

	// flavorID is the size of the machine: processors, memory, disk and GPUs.
	// Changing it replaces the machine; its disk is lost.
	// +required
	// +k8s:required
	// +k8s:format=k8s-uuid
	FlavorID ids.FlavorID `json:"flavorID"`

	// imageID is the image the machine boots from. It must suit the flavor in
	// architecture, disk size and virtualization. Changing it rebuilds the
	// machine; its disk is lost.
	// +required
	// +k8s:required
	// +k8s:format=k8s-uuid
	ImageID ids.ImageID `json:"imageID"`

	// sshCertificateAuthorityID is an SSH certificate authority of the project
	// whose certificates log in to the machine. Without one the machine
	// accepts the key of its network, see the sshkey subresource. Changing it
	// replaces the machine; its disk is lost.
	// +optional
	// +k8s:optional
	// +k8s:format=k8s-uuid
	SSHCertificateAuthorityID ids.SSHCertificateAuthorityID `json:"sshCertificateAuthorityID,omitempty"`

	// networking is how the machine is reached.
	// +optional
	Networking InstanceNetworking `json:"networking"`

	// userData is handed to cloud-init at the first boot: cloud-config, a
	// script, a MIME multipart message or another format cloud-init knows. In
	// YAML and JSON it is written in base64: `base64 -w0 user-data.yaml`.
	// Changed bytes take effect only when the machine is replaced. Everybody
	// who may read the instance can read it: put no secrets here.
	// +optional
	// +k8s:optional
	UserData []byte `json:"userData,omitempty"`

	// tags are names with values, kept with the instance for its users. Names
	// of the platform (unikorn-cloud.org and its subdomains) are refused.
	// +optional
	// +listType=map
	// +patchStrategy=merge
	// +patchMergeKey=name
	// +listMapKey=name
	// +k8s:optional
	// +k8s:listType=map
	// +k8s:listMapKey=name
	// +k8s:maxItems=64
	// +k8s:validation:maxItems=64
	Tags []Tag `json:"tags,omitempty" patchStrategy:"merge" patchMergeKey:"name"`

	// paused stops the platform from changing the machine after this spec. It
	// does not hold up deletion.
	// +optional
	// +k8s:optional
	// +default=false
	Paused bool `json:"paused"`
}

// InstanceNetworking is the public address, and what filters the traffic.
type InstanceNetworking struct {
	// publicIP asks for a public address, which is charged to the quota.
	// +optional
	// +k8s:optional
	// +default=false
	PublicIP bool `json:"publicIP"`

	// securityGroupIDs are the security groups that filter the machine's
	// traffic. They must belong to the network.
	// +optional
	// +listType=set
	// +k8s:optional
	// +k8s:listType=set
	// +k8s:maxItems=64
	// +k8s:eachVal=+k8s:format=k8s-uuid
	// +k8s:validation:maxItems=64
	SecurityGroupIDs []ids.SecurityGroupID `json:"securityGroupIDs,omitempty"`

	// allowedSourceAddresses are IPv4 prefixes without host bits, such as
	// 10.1.0.0/24, that the machine may send from beside its own address.
	// +optional
	// +listType=set
	// +k8s:optional
	// +k8s:listType=set
	// +k8s:maxItems=64
	// +k8s:validation:maxItems=64
	AllowedSourceAddresses []string `json:"allowedSourceAddresses,omitempty"`
}

// Tag is a name with a value.
type Tag struct {
	// name is unique among the tags of an instance.
	// +required
	// +k8s:required
	// +k8s:maxLength=253
	// +k8s:validation:maxLength=253
	Name string `json:"name"`

	// value is what the name stands for.
	// +optional
	// +k8s:optional
	// +k8s:maxLength=1024
	// +k8s:validation:maxLength=1024
	// +default=""
	Value string `json:"value"`
}

// PowerState is where the machine is in its power life.
// +enum
type PowerState string

const (
	// PowerStatePending waits for the provider to place the machine.
	PowerStatePending PowerState = "Pending"
	// PowerStateQueued waits for hardware.
	PowerStateQueued PowerState = "Queued"
	// PowerStateBuilding is being made.
	PowerStateBuilding PowerState = "Building"
	// PowerStateRebuilding is being made anew from another image.
	PowerStateRebuilding PowerState = "Rebuilding"
	// PowerStateRunning is running.
	PowerStateRunning PowerState = "Running"
	// PowerStateStopping is shutting down.
	PowerStateStopping PowerState = "Stopping"
	// PowerStateStopped is shut down.
	PowerStateStopped PowerState = "Stopped"
	// PowerStateError is in the provider's error state.
	PowerStateError PowerState = "Error"
)

// InstanceStatus is written by the platform, and may be some seconds old. Get
// the subresource power for the power state of this moment.
type InstanceStatus struct {
	// instanceID is the platform-wide id of the instance, and the name of the
	// ComputeInstance that stores it.
	// +optional
	InstanceID ids.InstanceID `json:"instanceID,omitempty"`

	// regionID is the region of the network.
	// +optional
	RegionID ids.RegionID `json:"regionID,omitempty"`

	// networkID is the network the machine is on.
	// +optional
	NetworkID ids.NetworkID `json:"networkID,omitempty"`

	// powerState is where the machine is in its power life. It is absent while
	// nothing, or nothing known, was reported.
	// +optional
	PowerState PowerState `json:"powerState,omitempty"`

	// privateIP is the address on the network.
	// +optional
	PrivateIP string `json:"privateIP,omitempty"`

	// publicIP is the public address, where one was asked for.
	// +optional
	PublicIP string `json:"publicIP,omitempty"`

	// macAddress is the hardware address on the network.
	// +optional
	MACAddress string `json:"macAddress,omitempty"`

	// observedGeneration is the generation of the spec that this status is of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are Ready, Stalled, Available, Healthy and Active. Ready is
	// True when the current spec is in place and the machine runs, or was
	// stopped on request. Stalled is True when only a change by the user can
	// help. Available, Healthy and Active mirror the platform: the spec handed
	// over, the machine's health, its power state.
	// +optional
	// +listType=map
	// +patchStrategy=merge
	// +patchMergeKey=type
	// +listMapKey=type
	// +k8s:eachVal=+k8s:opaqueType
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`
}

const (
	// ConditionReady is True when the current spec is in place and the machine
	// runs or was stopped on request.
	ConditionReady = "Ready"
	// ConditionStalled is True when nothing moves without a change by the user.
	ConditionStalled = "Stalled"
	// ConditionAvailable is True when the spec was handed over to the platform.
	ConditionAvailable = "Available"
	// ConditionHealthy is the platform's opinion of the machine.
	ConditionHealthy = "Healthy"
	// ConditionActive carries the power state in its reason.
	ConditionActive = "Active"
)
