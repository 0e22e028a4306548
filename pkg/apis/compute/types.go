// SPDX-License-Identifier: Apache-2.0

package compute

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Instance is a machine on a network of the platform. The fields are described
// on the external types.
type Instance struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Spec   InstanceSpec
	Status InstanceStatus
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// InstanceList is a list of instances.
type InstanceList struct {
	metav1.TypeMeta
	metav1.ListMeta

	Items []Instance
}

// InstanceSpec is what the user wants.
type InstanceSpec struct {
	Name                      string
	OrganizationID            ids.OrganizationID
	ProjectID                 ids.ProjectID
	NetworkID                 ids.NetworkID
	FlavorID                  ids.FlavorID
	ImageID                   ids.ImageID
	SSHCertificateAuthorityID ids.SSHCertificateAuthorityID
	Networking                InstanceNetworking
	UserData                  []byte
	Tags                      []Tag
	Paused                    bool
}

// InstanceNetworking is how the instance is reached.
type InstanceNetworking struct {
	PublicIP               bool
	SecurityGroupIDs       []ids.SecurityGroupID
	AllowedSourceAddresses []string
}

// Tag is a name with a value.
type Tag struct {
	Name  string
	Value string
}

// PowerState is where the machine is in its power life.
type PowerState string

// The power states. A state outside of these is never shown.
const (
	PowerStatePending    PowerState = "Pending"
	PowerStateQueued     PowerState = "Queued"
	PowerStateBuilding   PowerState = "Building"
	PowerStateRebuilding PowerState = "Rebuilding"
	PowerStateRunning    PowerState = "Running"
	PowerStateStopping   PowerState = "Stopping"
	PowerStateStopped    PowerState = "Stopped"
	PowerStateError      PowerState = "Error"
)

// InstanceStatus is what was last seen.
type InstanceStatus struct {
	InstanceID         ids.InstanceID
	RegionID           ids.RegionID
	NetworkID          ids.NetworkID
	PowerState         PowerState
	PrivateIP          string
	PublicIP           string
	MACAddress         string
	ObservedGeneration int64
	Conditions         []metav1.Condition
}
