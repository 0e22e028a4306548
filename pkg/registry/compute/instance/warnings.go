// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"bytes"
	"fmt"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
)

// replacement is what comes of a change that takes another machine: it is made
// like the first one, which starts.
const replacement = "the machine is replaced by a new one; its root disk and its addresses are lost; it runs afterwards, also if it was stopped"

// warnOfChange says what a change of the spec costs beyond what it says:
// docs/reference/wire.md, "Servers".
func (f *facts) warnOfChange(spec, stored *compute.InstanceSpec) []string {
	var warnings []string
	if spec.FlavorID != stored.FlavorID {
		warnings = append(warnings, "spec.flavorID: "+replacement)
	}
	if spec.SSHCertificateAuthorityID != stored.SSHCertificateAuthorityID {
		warnings = append(warnings, "spec.sshCertificateAuthorityID: "+replacement)
	}
	replaced := len(warnings) > 0
	if spec.ImageID != stored.ImageID {
		warnings = append(warnings, "spec.imageID: the machine is rebuilt from the new image; its root disk is lost")
	}
	changed := !bytes.Equal(spec.UserData, stored.UserData)
	if changed && !replaced {
		warnings = append(warnings, "spec.userData: the change takes effect only when the machine is replaced by a new one")
	}
	if len(warnOfLogin(stored)) == 0 {
		warnings = append(warnings, warnOfLogin(spec)...)
	}
	if changed || replaced {
		warnings = append(warnings, f.warnOfRefusal(spec)...)
		warnings = append(warnings, warnOfUserData(spec)...)
	}
	return warnings
}

// warnOfRefusal says why the platform will not take user data which an update
// may have all the same, because it may be older than the rules.
func (f *facts) warnOfRefusal(spec *compute.InstanceSpec) []string {
	errs := validateUserData(spec)
	if len(errs) == 0 {
		errs = f.validateUserData(spec)
	}
	var warnings []string
	for _, err := range errs {
		warnings = append(warnings, fmt.Sprintf("%s: the platform will not change or replace the machine with it: %s", err.Field, err.Detail))
	}
	return warnings
}
