// SPDX-License-Identifier: Apache-2.0

package main

// advice says of our own flags when to set them: by program, by group, by flag.
var advice = map[string]map[string]map[string]string{
	"instance-apiserver": {
		"platform": platform,
		"callers": {
			"principal-username-prefix": "always, to what kube-apiserver's `--oidc-username-prefix` or its authentication configuration puts before names. To the empty text where people are known by bare names",
			"platform-groups":           "to the groups of those who operate the cluster and may use any network; without it nothing that they refer to is found, as identity does not know them",
		},
	},
	"instance-controller": {
		"platform": platform,
		"host cluster": {
			"kubeconfig":     "when it runs outside of the cluster",
			"kube-api-qps":   "higher when the log speaks of client-side throttling, with thousands of instances changing at once",
			"kube-api-burst": "to about twice `--kube-api-qps`",
		},
		"leader election": {
			"leader-elect":                "to false only where one replica ever runs and may not write leases",
			"leader-elect-namespace":      "to the namespace it is installed in, when that is another",
			"leader-elect-lease-duration": "higher where kube-apiserver is often slow; how long nothing is done after a replica died grows with it",
			"leader-elect-renew-deadline": "lower than `--leader-elect-lease-duration`",
			"leader-elect-retry-period":   "to a fraction of `--leader-elect-renew-deadline`",
		},
		"controller": {
			"poll-interval":             "higher to spare region, lower to see sooner what changes by itself. There is one list a network in that time",
			"transition-poll-interval":  "higher to spare region, lower to see sooner that machines come up",
			"quota-resync-interval":     "lower where allocations are often changed by hand",
			"concurrent-instance-syncs": "higher when its work queue stays long, as the metric `workqueue_depth` shows, and region can take more calls at a time",
		},
		"serving": {
			"metrics-bind-address":      "to `127.0.0.1:8080` where metrics are for a proxy beside it only, to `0` where nobody reads them",
			"health-probe-bind-address": "when the port is taken; the probes of the Deployment go with it",
		},
	},
	"unikorn-simulator": {
		"addresses": {
			"region-bind-address":   "when the port is taken",
			"identity-bind-address": "when the port is taken",
			"admin-bind-address":    "when the port is taken",
			"addresses-file":        "when a script has to find the ports that were taken",
		},
		"certificates": {
			"tls-cert-file":        "always",
			"tls-private-key-file": "always",
			"client-ca-file":       "always, to the authority of the certificates that callers present",
		},
		"timing": {
			"boot-time":     waiting,
			"stop-time":     waiting,
			"delete-time":   waiting,
			"rebuild-time":  waiting,
			"snapshot-time": waiting,
			"read-lag":      "higher to see what a client makes of caches that are behind",
			"idle-timeout":  "higher to see what a client does with connections that live on; the services close them after a second",
		},
	},
}

const waiting = "to how long a test or a demonstration may wait for it"

// platform is on what both programs need to reach the services.
var platform = map[string]string{
	"region-host":        "always",
	"region-ca-file":     "always; a renewed file is taken up without a restart",
	"identity-host":      "always",
	"identity-ca-file":   "always; it may be the file of `--region-ca-file`",
	"client-cert-file":   "always; a renewed pair of files is taken up without a restart",
	"client-key-file":    "always. RSA, as the controller signs with it in whose name it asks",
	"address-quota-kind": "to the kind that the organizations' quotas limit, such as `publicips`: a kind that no quota names has no limit. To the same in both programs",
}
