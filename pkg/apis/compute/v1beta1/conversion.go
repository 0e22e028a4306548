// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"k8s.io/apimachinery/pkg/conversion"
)

// Convert_url_Values_To_v1beta1_InstanceLogOptions reads query parameters. Its
// error names tailLines, the only one that not every value is right for; that of
// the library names none.
func Convert_url_Values_To_v1beta1_InstanceLogOptions(in *url.Values, out *InstanceLogOptions, s conversion.Scope) error { //nolint:revive,staticcheck // the generator goes by this name
	err := autoConvert_url_Values_To_v1beta1_InstanceLogOptions(in, out, s)
	var number *strconv.NumError
	if errors.As(err, &number) {
		return fmt.Errorf("tailLines: %q is no number of lines: %w", number.Num, number.Err)
	}
	return err
}
