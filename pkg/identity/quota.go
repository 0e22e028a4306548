// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// quotaLimit is what tells an exhausted quota from a denial: both are 403, and
// only the prose of the first has these words. It is the one place where prose
// has to be read: docs/reference/wire.md, "Allocations".
const quotaLimit = "quota limit"

// CauseQuotaExceeded is the type of the cause in the status of a
// QuotaExceededError. Its field is the kind of quota.
const CauseQuotaExceeded metav1.CauseType = "QuotaExceeded"

var (
	_ error               = &QuotaExceededError{}
	_ apierrors.APIStatus = &QuotaExceededError{}
)

// QuotaExceededError says that an organization has no quota left for what was
// asked.
type QuotaExceededError struct {
	// Kind is the kind of quota, Total what would be used of it, Limit what may
	// be. All are zero when the service's words could not be read.
	Kind         string
	Total, Limit int64

	description string
	cause       *unikorn.Error
}

// Error is what the organization's people are told.
func (e *QuotaExceededError) Error() string {
	if e.Kind == "" {
		return e.description
	}
	return fmt.Sprintf("%s: total %d exceeds quota limit %d", e.Kind, e.Total, e.Limit)
}

// Unwrap is the failed call, if there was one.
func (e *QuotaExceededError) Unwrap() error {
	if e.cause == nil {
		return nil
	}
	return e.cause
}

// Status is 403 Forbidden with the message of Error.
func (e *QuotaExceededError) Status() metav1.Status {
	return metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusForbidden,
		Reason:  metav1.StatusReasonForbidden,
		Message: e.Error(),
		Details: &metav1.StatusDetails{
			Causes: []metav1.StatusCause{{Type: CauseQuotaExceeded, Field: e.Kind, Message: e.Error()}},
		},
	}
}

// charging is an endpoint that answers 403 when quota is exhausted.
func charging(name string) unikorn.Endpoint {
	return unikorn.Endpoint{Name: name, ByRule: exhausted}
}

// recharging is an endpoint that also answers 409 when the allocation was
// changed at the same time, which is over when the call is repeated.
func recharging(name string) unikorn.Endpoint {
	return unikorn.Endpoint{Name: name, ByRule: func(refusal *unikorn.Error) bool {
		return exhausted(refusal) || refusal.StatusCode == http.StatusConflict
	}}
}

func exhausted(refusal *unikorn.Error) bool {
	return refusal.StatusCode == http.StatusForbidden && strings.Contains(refusal.Description, quotaLimit)
}

// quotaExceeded turns the refusal of a charge for lack of quota into the error
// that says so, and leaves every other error.
func quotaExceeded(err error, allocation AllocationWrite) error {
	var refusal *unikorn.Error
	if !errors.As(err, &refusal) || !exhausted(refusal) {
		return err
	}
	result := &QuotaExceededError{description: refusal.Description, cause: refusal}
	kind, total, limit, ok := readQuota(refusal.Description, allocation.Spec.Allocations)
	if ok {
		result.Kind, result.Total, result.Limit = kind, total, limit
	}
	return result
}

var (
	limitNumber = regexp.MustCompile(quotaLimit + `\D*(\d+)`)
	number      = regexp.MustCompile(`\d+`)
	word        = regexp.MustCompile(`[0-9A-Za-z][0-9A-Za-z._-]*[0-9A-Za-z]`)
)

// readQuota finds in the service's words which of the kinds that were asked for
// is exhausted, the total, and the limit, which stands behind the words "quota
// limit". Only those two words are certain, so anything that could be read in
// two ways is not read at all.
func readQuota(text string, asked []ResourceAllocation) (kind string, total, limit int64, ok bool) {
	kind, ok = mentioned(text, asked)
	if !ok {
		return "", 0, 0, false
	}
	text = strings.ReplaceAll(text, kind, "")
	position := limitNumber.FindStringSubmatchIndex(text)
	if position == nil {
		return "", 0, 0, false
	}
	rest := text[:position[2]] + text[position[3]:]
	others := number.FindAllString(rest, -1)
	if len(others) != 1 {
		return "", 0, 0, false
	}
	limit, limitErr := strconv.ParseInt(text[position[2]:position[3]], 10, 64)
	total, totalErr := strconv.ParseInt(others[0], 10, 64)
	if limitErr != nil || totalErr != nil || total <= limit {
		return "", 0, 0, false
	}
	return kind, total, limit, true
}

// mentioned is the one kind of those asked for that occurs in text as a word.
func mentioned(text string, asked []ResourceAllocation) (string, bool) {
	var kind string
	for _, found := range word.FindAllString(text, -1) {
		for _, entry := range asked {
			if entry.Kind != found {
				continue
			}
			if kind != "" && kind != found {
				return "", false
			}
			kind = found
		}
	}
	return kind, kind != ""
}
