// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
)

// What a write needs to know is found out only if its form is right, which a
// copy is tried for. Where the Store then takes for right what the trial took
// for wrong, nothing is known and nothing would be charged: the last look
// before the write, beside admission, refuses that.

// errUnchecked is a fault of this server.
var errUnchecked = errors.New("the references of the instance were not checked")

// onlyChecked lets a new instance pass if it was checked.
func onlyChecked(admit rest.ValidateObjectFunc) rest.ValidateObjectFunc {
	return func(ctx context.Context, obj runtime.Object) error {
		if !findingsFrom(ctx).checked {
			return apierrors.NewInternalError(errUnchecked)
		}
		if admit == nil {
			return nil
		}
		return admit(ctx, obj)
	}
}

// onlyCheckedChange lets a changed instance pass if it was checked. What leaves
// the spec alone is not.
func onlyCheckedChange(admit rest.ValidateObjectUpdateFunc) rest.ValidateObjectUpdateFunc {
	return func(ctx context.Context, obj, old runtime.Object) error {
		instance, stored := obj.(*compute.Instance), old.(*compute.Instance)
		if !findingsFrom(ctx).checked && !equality.Semantic.DeepEqual(instance.Spec, stored.Spec) {
			return apierrors.NewInternalError(errUnchecked)
		}
		if admit == nil {
			return nil
		}
		return admit(ctx, obj, old)
	}
}

// unheard is ctx for a trial, whose warnings the Store repeats.
func unheard(ctx context.Context) context.Context {
	return warning.WithWarningRecorder(ctx, deaf{})
}

type deaf struct{}

// AddWarning implements warning.Recorder.
func (deaf) AddWarning(string, string) {}
