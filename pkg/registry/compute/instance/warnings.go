// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"bytes"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
)

// warnOfChange says what a change of the spec costs beyond what it says:
// docs/reference/wire.md, "Servers".
func warnOfChange(spec, stored *compute.InstanceSpec) []string {
	var warnings []string
	if spec.FlavorID != stored.FlavorID {
		warnings = append(warnings, "spec.flavorID: the machine is replaced by a new one; its root disk and its addresses are lost")
	}
	if spec.SSHCertificateAuthorityID != stored.SSHCertificateAuthorityID {
		warnings = append(warnings, "spec.sshCertificateAuthorityID: the machine is replaced by a new one; its root disk and its addresses are lost")
	}
	if spec.ImageID != stored.ImageID {
		warnings = append(warnings, "spec.imageID: the machine is rebuilt from the new image; its root disk is lost")
	}
	if !bytes.Equal(spec.UserData, stored.UserData) {
		warnings = append(warnings, "spec.userData: the change takes effect only when the machine is replaced by a new one")
		warnings = append(warnings, warnOfUserData(spec)...)
	}
	return warnings
}
