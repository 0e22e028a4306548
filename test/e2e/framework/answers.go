// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	gomegatypes "github.com/onsi/gomega/types"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StatusOf is what the API server answered.
func StatusOf(err error) (metav1.Status, error) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return metav1.Status{}, errors.New("not an answer of an API server")
	}
	return status.Status(), nil
}

// BeRefused matches the error of a request that was answered with the code and
// the reason.
func BeRefused(code int32, reason metav1.StatusReason) gomegatypes.GomegaMatcher {
	return WithTransform(StatusOf, And(HaveField("Code", code), HaveField("Reason", reason)))
}

// BeInvalidAt matches the error of a request that was answered with 422 for the
// fields and no others.
func BeInvalidAt(fields ...string) gomegatypes.GomegaMatcher {
	return And(BeRefused(422, metav1.StatusReasonInvalid), WithTransform(fieldsOf, Equal(fields)))
}

// fieldsOf are the fields an answer complains about, sorted, each once.
func fieldsOf(err error) ([]string, error) {
	status, failure := StatusOf(err)
	if failure != nil {
		return nil, failure
	}
	var fields []string
	if status.Details != nil {
		for _, cause := range status.Details.Causes {
			fields = append(fields, cause.Field)
		}
	}
	slices.Sort(fields)
	return slices.Compact(fields), nil
}

// NotFoundAt is the cause of a reference to what is not there for the caller.
func NotFoundAt(field string) string {
	return string(metav1.CauseTypeFieldValueNotFound) + " " + field
}

// InvalidAt is the cause of a value that is not allowed.
func InvalidAt(field string) string {
	return string(metav1.CauseTypeFieldValueInvalid) + " " + field
}

// causesOf are the causes of an answer, each its type and its field.
func causesOf(err error) ([]string, error) {
	status, failure := StatusOf(err)
	if failure != nil {
		return nil, failure
	}
	causes := []string{}
	if status.Details != nil {
		for _, cause := range status.Details.Causes {
			causes = append(causes, string(cause.Type)+" "+cause.Field)
		}
	}
	return causes, nil
}

// BeInvalidFor matches the error of a request that was answered with 422 for
// these causes, each once, and no others.
func BeInvalidFor(causes ...string) gomegatypes.GomegaMatcher {
	return And(BeRefused(422, metav1.StatusReasonInvalid), WithTransform(causesOf, ConsistOf(causes)))
}

// WithoutIDs is all of an answer as JSON, but for the ids that it is about.
func WithoutIDs(err error, about ...string) string {
	GinkgoHelper()
	status, failure := StatusOf(err)
	Expect(failure).NotTo(HaveOccurred())
	whole, failure := json.Marshal(status)
	Expect(failure).NotTo(HaveOccurred())
	text := string(whole)
	for _, id := range about {
		text = Redact(text, id)
	}
	return text
}

// Redact takes out of a message what makes it differ from another of the kind.
func Redact(message, value string) string {
	return strings.ReplaceAll(message, value, "…")
}
