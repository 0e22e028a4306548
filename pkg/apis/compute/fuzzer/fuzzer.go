// SPDX-License-Identifier: Apache-2.0

// Package fuzzer fills the types of the group compute.unikorn-cloud.org with
// random values that the API can hold, for tests.
package fuzzer

import (
	"encoding/binary"
	"strconv"

	"github.com/google/uuid"
	runtimeserializer "k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/randfill"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
)

// Funcs are the fuzzer functions of the group. Ids are UUIDs, tag names are
// unique and power states are known; everything else is left to chance.
func Funcs(runtimeserializer.CodecFactory) []any {
	return []any{
		fillUUID[ids.OrganizationID],
		fillUUID[ids.ProjectID],
		fillUUID[ids.RegionID],
		fillUUID[ids.NetworkID],
		fillUUID[ids.FlavorID],
		fillUUID[ids.ImageID],
		fillUUID[ids.SecurityGroupID],
		fillUUID[ids.SSHCertificateAuthorityID],
		fillUUID[ids.InstanceID],
		fillPowerState,
		fillSpec,
	}
}

func fillUUID[T ~string](id *T, c randfill.Continue) {
	var random uuid.UUID
	binary.BigEndian.PutUint64(random[:8], c.Uint64())
	binary.BigEndian.PutUint64(random[8:], c.Uint64())
	*id = T(random.String())
}

// PowerStates are all states that a machine is ever shown in.
var PowerStates = []compute.PowerState{
	compute.PowerStatePending,
	compute.PowerStateQueued,
	compute.PowerStateBuilding,
	compute.PowerStateRebuilding,
	compute.PowerStateRunning,
	compute.PowerStateStopping,
	compute.PowerStateStopped,
	compute.PowerStateError,
}

func fillPowerState(state *compute.PowerState, c randfill.Continue) {
	if c.Bool() {
		*state = ""
		return
	}
	*state = PowerStates[c.Intn(len(PowerStates))]
}

func fillSpec(spec *compute.InstanceSpec, c randfill.Continue) {
	c.FillNoCustom(spec)
	if c.Bool() {
		spec.SSHCertificateAuthorityID = ""
	}
	for i := range spec.Tags {
		spec.Tags[i].Name += strconv.Itoa(i)
	}
}
