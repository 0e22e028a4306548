// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"testing"

	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// policy is what a policy says of every request.
type policy audit.RequestAuditConfig

func (p policy) EvaluatePolicyRule(authorizer.Attributes) audit.RequestAuditConfig {
	return audit.RequestAuditConfig(p)
}

func TestSecretsAreNotAudited(t *testing.T) {
	const (
		none     = auditinternal.LevelNone
		metadata = auditinternal.LevelMetadata
		request  = auditinternal.LevelRequest
		response = auditinternal.LevelRequestResponse
	)
	tests := []struct {
		verb, group, resource, subresource string
		capped                             bool
	}{
		{"create", "compute.unikorn-cloud.org", "instances", "sshkey", true},
		{"create", "compute.unikorn-cloud.org", "instances", "console", true},
		{"create", "compute.unikorn-cloud.org", "instances", "", true},
		{"update", "compute.unikorn-cloud.org", "instances", "", true},
		{"patch", "compute.unikorn-cloud.org", "instances", "", true},
		{"get", "compute.unikorn-cloud.org", "instances", "", true},
		{"list", "compute.unikorn-cloud.org", "instances", "", true},
		{"watch", "compute.unikorn-cloud.org", "instances", "", true},
		{"delete", "compute.unikorn-cloud.org", "instances", "", true},
		{"deletecollection", "compute.unikorn-cloud.org", "instances", "", true},
		{"get", "compute.unikorn-cloud.org", "instances", "status", true},
		{"get", "compute.unikorn-cloud.org", "instances", "log", true},
		{"create", "compute.unikorn-cloud.org", "instances", "something-new", true},
		{"create", "compute.unikorn-cloud.org", "instances", "power", false},
		{"get", "compute.unikorn-cloud.org", "instances", "power", false},
		{"create", "compute.unikorn-cloud.org", "instances", "snapshot", false},
		{"create", "example.org", "instances", "", false},
		{"create", "compute.unikorn-cloud.org", "others", "", false},
	}
	for _, test := range tests {
		attributes := authorizer.AttributesRecord{
			Verb: test.verb, APIGroup: test.group, Resource: test.resource, Subresource: test.subresource, ResourceRequest: true,
		}
		for _, level := range []auditinternal.Level{none, metadata, request, response} {
			want := level
			if test.capped && (level == request || level == response) {
				want = metadata
			}
			stages := []auditinternal.Stage{auditinternal.StageRequestReceived}
			got := withoutAuditingSecrets(policy{Level: level, OmitStages: stages, OmitManagedFields: true}).EvaluatePolicyRule(attributes)
			if got.Level != want || len(got.OmitStages) != 1 || !got.OmitManagedFields {
				t.Errorf("%s %s/%s at %s: %+v, want level %s and the rest as the policy says",
					test.verb, test.resource, test.subresource, level, got, want)
			}
		}
	}
}

func TestNothingIsAuditedWithoutPolicy(t *testing.T) {
	if got := withoutAuditingSecrets(nil); got != nil {
		t.Errorf("evaluator %v, want none", got)
	}
}
