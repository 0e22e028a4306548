// SPDX-License-Identifier: Apache-2.0

package compute

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// InstancePower is the power of an instance's machine.
type InstancePower struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Spec   InstancePowerSpec
	Status InstancePowerStatus
}

// InstancePowerSpec is what is to be done.
type InstancePowerSpec struct {
	Action PowerAction
}

// PowerAction is something to do about the power of a machine.
type PowerAction string

// The power actions.
const (
	PowerActionStart      PowerAction = "Start"
	PowerActionStop       PowerAction = "Stop"
	PowerActionReboot     PowerAction = "Reboot"
	PowerActionHardReboot PowerAction = "HardReboot"
)

// InstancePowerStatus is the state of the machine.
type InstancePowerStatus struct {
	PowerState PowerState
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// InstanceConsole is a session on the console of an instance's machine. Its URL
// is a secret: it does not go into a log.
type InstanceConsole struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Status InstanceConsoleStatus
}

// InstanceConsoleStatus is a console session.
type InstanceConsoleStatus struct {
	URL string
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// InstanceSnapshot is an image made of the disk of an instance's machine.
type InstanceSnapshot struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Spec   InstanceSnapshotSpec
	Status InstanceSnapshotStatus
}

// InstanceSnapshotSpec is what the image is to say about itself.
type InstanceSnapshotSpec struct {
	Description string
	Tags        []Tag
}

// InstanceSnapshotStatus is an image.
type InstanceSnapshotStatus struct {
	ImageID ids.ImageID
	State   string
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// InstanceSSHKey is the private key that logs in to an instance's machine. It
// does not go into a log.
type InstanceSSHKey struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Status InstanceSSHKeyStatus
}

// InstanceSSHKeyStatus is a private key.
type InstanceSSHKeyStatus struct {
	PrivateKey string
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// InstanceLogOptions are the query parameters of the console output.
type InstanceLogOptions struct {
	metav1.TypeMeta

	TailLines *int64
	Follow    bool
}
