// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
)

// patchField is where the API machinery reports a patch whose result is no
// object of the kind.
const patchField = "patch"

var instanceKind = schema.GroupKind{Group: compute.GroupName, Kind: "Instance"}

// unreadable are the beginnings of what the API machinery says of an applied
// configuration that is no object of the kind. It gives such errors no status,
// which makes a client's mistake a failure of the server.
var unreadable = []string{"failed to convert new object (", "failed to create typed patch object ("}

// got is where an error about an applied value begins to show the value.
const got = ", got "

// patchError is the answer to a patch that does not lead to an instance, in
// the place of the API machinery's. That shows all of the object, user data
// included, and messages end up in logs and in audits.
func patchError(err error, name string) error {
	if err == nil {
		return nil
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return applyError(err)
	}
	details := status.Status().Details
	if !apierrors.IsInvalid(err) || details == nil || details.Kind != "" || len(details.Causes) != 1 || details.Causes[0].Field != patchField {
		return err
	}
	return apierrors.NewInvalid(instanceKind, name, field.ErrorList{
		field.Invalid(field.NewPath(patchField), omitted, reasonOf(details.Causes[0])),
	})
}

func applyError(err error) error {
	begins := func(beginning string) bool { return strings.HasPrefix(err.Error(), beginning) }
	if !slices.ContainsFunc(unreadable, begins) {
		return err
	}
	reason, _, _ := strings.Cut(err.Error(), got)
	return apierrors.NewBadRequest(reason)
}

// reasonOf is what is wrong with the value of a cause, without the value. It is
// empty where that cannot be told apart.
func reasonOf(cause metav1.StatusCause) string {
	rest, ok := strings.CutPrefix(cause.Message, field.ErrorTypeInvalid.String()+": ")
	if !ok {
		return ""
	}
	value, err := strconv.QuotedPrefix(rest)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(rest[len(value):], ": ")
}
