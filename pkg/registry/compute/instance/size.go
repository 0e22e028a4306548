// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
)

// maxSize is how large an instance may be, in bytes of JSON without managed
// fields and status. The host's storage takes one and a half times as much;
// the rest is room for what is added to it. It is checked before the charge:
// nothing is to be paid for that cannot be stored.
const maxSize = 1 << 20

// refuseOversize refuses an instance that is too large to be stored. One that
// does not grow is let through: nothing may keep it from being taken apart.
func refuseOversize(instance, stored *compute.Instance) error {
	size, err := sizeOf(instance)
	if err != nil || size <= maxSize {
		return err
	}
	if stored != nil {
		before, err := sizeOf(stored)
		if err != nil || size <= before {
			return err
		}
	}
	return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf(
		"the instance has %d bytes, at most %d can be stored: it has too many or too long labels, annotations, finalizers or owner references",
		size, maxSize))
}

func sizeOf(instance *compute.Instance) (int, error) {
	meta := instance.ObjectMeta
	meta.ManagedFields = nil
	total := 0
	for _, part := range []any{&meta, &instance.Spec} {
		encoded, err := json.Marshal(part)
		if err != nil {
			return 0, fmt.Errorf("measure instance: %w", err)
		}
		total += len(encoded)
	}
	return total, nil
}
