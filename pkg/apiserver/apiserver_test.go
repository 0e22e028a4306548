// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"net/http"
	"testing"

	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/util/compatibility"
	restclient "k8s.io/client-go/rest"
)

// What is particular to this server is in force in what Complete returns.
func TestComplete(t *testing.T) {
	generic := genericapiserver.NewRecommendedConfig(Codecs)
	generic.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	generic.ExternalAddress = "127.0.0.1:443"
	generic.LoopbackClientConfig = &restclient.Config{}
	generic.AuditPolicyRuleEvaluator = policy{Level: auditinternal.LevelRequestResponse}
	completed := (&Config{GenericConfig: generic}).Complete().GenericConfig

	request, info := received(t, http.MethodGet, inAlpha+"/web-1/log?follow=true")
	if !completed.LongRunningFunc(request, info) {
		t.Error("following a log is not long-running")
	}
	if completed.ShutdownWatchTerminationGracePeriod == 0 {
		t.Error("watches are not told that the server stops")
	}
	key := authorizer.AttributesRecord{
		Verb: "create", APIGroup: "compute.unikorn-cloud.org", Resource: "instances", Subresource: "sshkey", ResourceRequest: true,
	}
	if got := completed.AuditPolicyRuleEvaluator.EvaluatePolicyRule(key).Level; got != auditinternal.LevelMetadata {
		t.Errorf("keys are audited at %s", got)
	}
}
