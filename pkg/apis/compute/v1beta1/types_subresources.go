// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +k8s:isSubresource="/power"

// InstancePower is the power of an instance's machine, the subresource power.
// Getting it reads the state from the platform, which is newer than the one in
// the instance's status. Creating one switches the machine; where that finds
// the machine already as it was to be, or on its way, it succeeds with a
// warning.
type InstancePower struct {
	// +k8s:opaqueType
	metav1.TypeMeta `json:""`
	// metadata is that of the instance. A name that is sent must be the
	// instance's.
	// +optional
	// +k8s:opaqueType
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what is to be done. It is absent where the power was got.
	// +optional
	Spec InstancePowerSpec `json:"spec,omitzero"`
	// status is the state of the machine. It is read-only.
	// +optional
	Status InstancePowerStatus `json:"status,omitzero"`
}

// InstancePowerSpec is what is to be done.
type InstancePowerSpec struct {
	// action is what is to be done: Start, Stop, Reboot, by asking the guest,
	// or HardReboot, by switching the machine off and on.
	// +required
	// +k8s:required
	Action PowerAction `json:"action"`
}

// PowerAction is something to do about the power of a machine.
// +enum
// +k8s:enum
type PowerAction string

const (
	// PowerActionStart starts a stopped machine.
	PowerActionStart PowerAction = "Start"
	// PowerActionStop stops a running machine. It stays stopped until it is
	// started, and is charged for all the same.
	PowerActionStop PowerAction = "Stop"
	// PowerActionReboot asks the guest of a running machine to reboot.
	PowerActionReboot PowerAction = "Reboot"
	// PowerActionHardReboot switches a running machine off and on.
	PowerActionHardReboot PowerAction = "HardReboot"
)

// InstancePowerStatus is the state of the machine.
type InstancePowerStatus struct {
	// powerState is where the machine is in its power life, after the action
	// where there was one. It is absent while nothing, or nothing known, was
	// reported.
	// +optional
	PowerState PowerState `json:"powerState,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +k8s:isSubresource="/console"

// InstanceConsole is a session on the console of an instance's machine, the
// subresource console. Each create opens another session.
type InstanceConsole struct {
	// +k8s:opaqueType
	metav1.TypeMeta `json:""`
	// metadata is that of the instance. A name that is sent must be the
	// instance's.
	// +optional
	// +k8s:opaqueType
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// status is the session. It is read-only.
	// +optional
	Status InstanceConsoleStatus `json:"status,omitzero"`
}

// InstanceConsoleStatus is a console session.
type InstanceConsoleStatus struct {
	// url opens the session in a browser, for whoever has it: keep it to
	// yourself.
	// +optional
	URL string `json:"url,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +k8s:isSubresource="/snapshot"

// InstanceSnapshot is an image made of the disk of an instance's machine, the
// subresource snapshot. The image belongs to the organization, which can boot
// other instances from it, and outlives the instance. It bears a tag that names
// the instance, compute.unikorn-cloud.org:instance-id.
type InstanceSnapshot struct {
	// +k8s:opaqueType
	metav1.TypeMeta `json:""`
	// metadata.name is required and becomes the name of the image: 1 to 63
	// letters, digits, dashes, underscores and dots, starting and ending with a
	// letter or digit. Several images may have the same name.
	// +optional
	// +k8s:opaqueType
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the image is to say about itself.
	// +optional
	Spec InstanceSnapshotSpec `json:"spec,omitzero"`
	// status is the image. It is read-only.
	// +optional
	Status InstanceSnapshotStatus `json:"status,omitzero"`
}

// InstanceSnapshotSpec is what the image is to say about itself.
type InstanceSnapshotSpec struct {
	// description is for people.
	// +optional
	// +k8s:optional
	// +k8s:maxLength=1024
	// +k8s:validation:maxLength=1024
	Description string `json:"description,omitempty"`

	// tags are names with values. Names of the platform (unikorn-cloud.org and
	// its subdomains) are left out, with a warning.
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
}

// InstanceSnapshotStatus is an image.
type InstanceSnapshotStatus struct {
	// imageID is the image, for the spec of other instances once it is ready.
	// +optional
	ImageID ids.ImageID `json:"imageID,omitempty"`

	// state is how far the image was when it was asked for, in the platform's
	// words: pending, creating, ready or failed.
	// +optional
	State string `json:"state,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +k8s:isSubresource="/sshkey"

// InstanceSSHKey is the private key that logs in to an instance's machine, the
// subresource sshkey. The key is not the machine's own but its network's: it
// opens every machine on the network that accepts it. An instance with an SSH
// certificate authority does not accept it, and has no such subresource.
type InstanceSSHKey struct {
	// +k8s:opaqueType
	metav1.TypeMeta `json:""`
	// metadata is that of the instance. A name that is sent must be the
	// instance's.
	// +optional
	// +k8s:opaqueType
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// status is the key. It is read-only.
	// +optional
	Status InstanceSSHKeyStatus `json:"status,omitzero"`
}

// InstanceSSHKeyStatus is a private key.
type InstanceSSHKeyStatus struct {
	// privateKey is the network's private key, in PEM.
	// +optional
	PrivateKey string `json:"privateKey,omitempty"`
}

// +k8s:conversion-gen:explicit-from=net/url.Values
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +k8s:isSubresource="/log"

// InstanceLogOptions are the query parameters of the subresource log, the
// console output of an instance's machine as text.
type InstanceLogOptions struct {
	// +k8s:opaqueType
	metav1.TypeMeta `json:""`

	// tailLines is how many lines from the end to show. Defaults to all that
	// the platform keeps.
	// +optional
	// +k8s:optional
	// +k8s:minimum=0
	TailLines *int64 `json:"tailLines,omitempty"`

	// follow goes on with what the machine writes from then on, until the
	// caller goes or the machine is gone.
	// +optional
	// +k8s:optional
	Follow bool `json:"follow,omitempty"`
}

// SwaggerDoc describes the query parameters, which have no model in OpenAPI to
// be described in.
func (InstanceLogOptions) SwaggerDoc() map[string]string {
	return map[string]string{
		"tailLines": "How many lines from the end to show. Defaults to all that the platform keeps.",
		"follow":    "Go on with what the machine writes from then on, until the caller goes or the machine is gone.",
	}
}

// Types of causes in answers to requests for subresources.
const (
	// CauseConsistencyError says that the platform does not have exactly one
	// machine for the instance. The message has the number.
	CauseConsistencyError metav1.CauseType = "ConsistencyError"
	// CausePowerState says that the machine is in no state for what was asked.
	// The message is the state, and empty where none is known.
	CausePowerState metav1.CauseType = "PowerState"
)
