// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/audit/policy"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// The rules for kube-apiserver keep secrets out, whatever rules come after.
func TestAuditPolicy(t *testing.T) {
	rules, err := policy.LoadPolicyFromFile("../../artifacts/audit/policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rules.Rules = append(rules.Rules, auditinternal.PolicyRule{Level: auditinternal.LevelRequestResponse})
	evaluator := policy.NewPolicyRuleEvaluator(rules)
	for _, test := range []struct {
		group, resource, subresource string
		want                         auditinternal.Level
	}{
		{"compute.unikorn-cloud.org", "computeinstances", "", auditinternal.LevelMetadata},
		{"compute.unikorn-cloud.org", "computeinstances", "status", auditinternal.LevelMetadata},
		{"compute.unikorn-cloud.org", "instances", "", auditinternal.LevelMetadata},
		{"compute.unikorn-cloud.org", "instances", "sshkey", auditinternal.LevelMetadata},
		{"compute.unikorn-cloud.org", "instances", "console", auditinternal.LevelMetadata},
		{"authentication.k8s.io", "tokenreviews", "", auditinternal.LevelMetadata},
		{"", "namespaces", "", auditinternal.LevelRequestResponse},
	} {
		for _, verb := range []string{"create", "update", "patch", "get", "list", "delete", "deletecollection"} {
			got := evaluator.EvaluatePolicyRule(authorizer.AttributesRecord{
				Verb: verb, APIGroup: test.group, Resource: test.resource, Subresource: test.subresource, ResourceRequest: true,
			})
			if got.Level != test.want {
				t.Errorf("%s %s/%s is audited at %s, want %s", verb, test.resource, test.subresource, got.Level, test.want)
			}
		}
	}
}
