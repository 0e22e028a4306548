// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
)

const (
	service = `apiVersion: v1
kind: Service
metadata:
  name: fine
spec:
  ports:
    - {name: https, port: 443, targetPort: https}
`
	apiService = `apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata:
  name: v1beta1.compute.unikorn-cloud.org
spec:
  group: compute.unikorn-cloud.org
  version: v1beta1
  groupPriorityMinimum: 1000
  versionPriority: 200
`
	instance = `apiVersion: compute.unikorn-cloud.org/v1beta1
kind: Instance
metadata:
  name: web-1
spec:
  networkID: 0d000000-0000-4000-8000-0000000000d1
`
	certificateOfServer = `apiVersion: cert-manager.io/v1
kind: Certificate
metadata:
  name: serving
spec:
  duration: 2160h
  secretName: serving
  issuerRef: {name: ca, kind: Issuer, group: cert-manager.io}
`
)

func TestCheck(t *testing.T) {
	for name, test := range map[string]struct {
		content string
		// wrong is what the complaint is about, empty if there is none.
		wrong string
	}{
		"right":                  {content: service + "---\n" + apiService + "---\n" + instance + "---\n" + certificateOfServer},
		"nothing":                {wrong: "no documents"},
		"no YAML":                {content: "kind: [", wrong: "yaml"},
		"unknown kind":           {content: strings.Replace(service, "kind: Service", "kind: Servize", 1), wrong: "Servize"},
		"unknown version":        {content: strings.Replace(service, "v1", "v3", 1), wrong: "v3"},
		"unknown field":          {content: strings.Replace(service, "targetPort", "targetport", 1), wrong: `Service "fine"`},
		"field twice":            {content: service + "  clusterIP: None\n  clusterIP: None\n", wrong: "clusterIP"},
		"wrong type":             {content: strings.Replace(service, "443", "many", 1), wrong: "port"},
		"the second is wrong":    {content: service + "---\n" + strings.Replace(service, "spec:", "spek:", 1), wrong: `document 2: Service "fine"`},
		"unknown field of ours":  {content: instance + "  colour: red\n", wrong: "spec.colour"},
		"unknown field, third":   {content: strings.Replace(certificateOfServer, "secretName", "secret", 1), wrong: "secret"},
		"wrong type, third":      {content: strings.Replace(certificateOfServer, "2160h", "often", 1), wrong: "often"},
		"trusts whoever answers": {content: apiService + "  insecureSkipTLSVerify: true\n", wrong: "insecureSkipTLSVerify"},
	} {
		t.Run(name, func(t *testing.T) {
			err := check([]byte(test.content))
			switch {
			case test.wrong == "" && err != nil:
				t.Error(err)
			case test.wrong != "" && (err == nil || !strings.Contains(err.Error(), test.wrong)):
				t.Errorf("%v does not complain about %s", err, test.wrong)
			}
		})
	}
}
