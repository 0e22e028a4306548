// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"errors"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/userdata"
)

// User data may hold secrets: no error shows its value.
var omitted = field.OmitValueType{}

func userDataPath() *field.Path {
	return field.NewPath("spec", "userData")
}

// validateUserData judges the user data of a new instance, as region's parser
// will. How much room is left where there is an SSH certificate authority is
// known only with the authority, see facts.validateUserData.
func validateUserData(spec *compute.InstanceSpec) field.ErrorList {
	if spec.SSHCertificateAuthorityID != "" {
		return invalidUserData(userdata.CheckManaged(spec.UserData))
	}
	if err := userdata.Check(spec.UserData); err != nil {
		return invalidUserData(err)
	}
	return invalidUserData(userdata.CheckSize(spec.UserData, ""))
}

// validateCoupling refuses what cannot be combined with the authority in the
// request. Nothing else of user data is judged on an update: it has done its
// work, and may be older than the rules.
func validateCoupling(spec *compute.InstanceSpec) field.ErrorList {
	if spec.SSHCertificateAuthorityID == "" {
		return nil
	}
	if err := userdata.CheckManaged(spec.UserData); errors.Is(err, userdata.ErrGzip) {
		return invalidUserData(err)
	}
	return nil
}

// validateUserData checks that the authority's part still fits beside the
// user's.
func (f *facts) validateUserData(spec *compute.InstanceSpec) field.ErrorList {
	if f.authority.found == nil {
		return nil
	}
	return invalidUserData(userdata.CheckSize(spec.UserData, f.authority.found.Spec.PublicKey))
}

func invalidUserData(err error) field.ErrorList {
	if err == nil {
		return nil
	}
	return field.ErrorList{field.Invalid(userDataPath(), omitted, err.Error())}
}

// warnOfLogin says that nothing in the spec lets anybody log in. A later choice
// of an authority costs the machine, so it is worth saying in time:
// docs/reference/wire.md, "User data".
func warnOfLogin(spec *compute.InstanceSpec) []string {
	if spec.SSHCertificateAuthorityID != "" || len(spec.UserData) > 0 {
		return nil
	}
	return []string{"spec.sshCertificateAuthorityID: without an authority or user data there is no way to log in " +
		"but the key that all machines of the network share (instances/sshkey); adding an authority later replaces the machine"}
}

// warnOfUserData says what the guest would leave out without a word.
func warnOfUserData(spec *compute.InstanceSpec) []string {
	found := userdata.Warnings(spec.UserData)
	if spec.SSHCertificateAuthorityID != "" {
		found = userdata.WarningsManaged(spec.UserData)
	}
	warnings := make([]string, 0, len(found))
	for _, warning := range found {
		warnings = append(warnings, userDataPath().String()+": "+warning)
	}
	return warnings
}
