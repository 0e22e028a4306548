// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
)

// withoutAuditingSecrets keeps bodies with secrets out of audit events, whatever
// the policy says. There is no evaluator where nothing is audited.
func withoutAuditingSecrets(policy audit.PolicyRuleEvaluator) audit.PolicyRuleEvaluator {
	if policy == nil {
		return nil
	}
	return secretiveAudit{policy}
}

var _ audit.PolicyRuleEvaluator = secretiveAudit{}

type secretiveAudit struct {
	policy audit.PolicyRuleEvaluator
}

// EvaluatePolicyRule implements audit.PolicyRuleEvaluator.
func (s secretiveAudit) EvaluatePolicyRule(attributes authorizer.Attributes) audit.RequestAuditConfig {
	config := s.policy.EvaluatePolicyRule(attributes)
	if carriesSecrets(attributes) && auditinternal.LevelMetadata.Less(config.Level) {
		config.Level = auditinternal.LevelMetadata
	}
	return config
}

// carriesSecrets says whether bodies of the request or its answer may hold a
// key, the URL of a console session or the user data of an instance. Of the
// subresources those are named that do not, so that a new one is held to.
func carriesSecrets(attributes authorizer.Attributes) bool {
	if attributes.GetAPIGroup() != compute.GroupName || attributes.GetResource() != resource {
		return false
	}
	switch attributes.GetSubresource() {
	case "power", "snapshot":
		return false
	default:
		return true
	}
}
