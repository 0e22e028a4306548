// SPDX-License-Identifier: Apache-2.0

package operations

import (
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

// ownRights are the rights that rules give to what is ours, each a resource and
// a verb.
func ownRights(rules []rbacv1.PolicyRule) sets.Set[string] {
	found := sets.New[string]()
	for _, rule := range rules {
		if !slices.Contains(rule.APIGroups, compute.GroupName) && !slices.Contains(rule.APIGroups, rbacv1.APIGroupAll) {
			continue
		}
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				found.Insert(resource + " " + verb)
			}
		}
	}
	return found
}

// onInstances are rights as ownRights writes them.
func onInstances(may rights) []string {
	var found []string
	for right := range may {
		verb, subresource, below := strings.Cut(right, " ")
		resource := "instances"
		if below {
			resource += "/" + subresource
		}
		found = append(found, resource+" "+verb)
	}
	return found
}

var _ = Describe("The roles that every cluster has", func() {
	// Owner references that block deletion need it where the cluster asks.
	withFinalizers := editRights.Union(sets.New("update finalizers"))

	DescribeTable("hold of Instances exactly",
		func(ctx SpecContext, role string, may rights) {
			found, err := ClientOf(environment.Admin).RbacV1().ClusterRoles().Get(ctx, role, metav1.GetOptions{})
			Expect(err).NotTo(HaveOccurred())
			Expect(ownRights(found.Rules).UnsortedList()).To(ConsistOf(onInstances(may)))
		},
		Entry("what viewers may", "view", viewRights),
		Entry("what editors may", "edit", withFinalizers),
		Entry("what administrators of a namespace may: the same", "admin", withFinalizers),
	)

	It("are all that gives rights to what is ours, but for the roles that ship and cluster-admin's kind", func(ctx SpecContext) {
		roles, err := ClientOf(environment.Admin).RbacV1().ClusterRoles().List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		roleNames := []string{}
		for _, role := range roles.Items {
			if ownRights(role.Rules).Len() > 0 {
				roleNames = append(roleNames, role.Name)
			}
		}
		Expect(roleNames).To(ConsistOf("view", "edit", "admin", "cluster-admin",
			"unikorn-compute:instances-view", "unikorn-compute:instances-edit",
			"unikorn-compute:computeinstance-writer", "unikorn-compute:instance-apiserver", "unikorn-compute:instance-controller",
			// Controllers of the cluster that work on resources of any kind.
			"system:controller:generic-garbage-collector", "system:controller:namespace-controller",
			"system:controller:resourcequota-controller", "system:controller:horizontal-pod-autoscaler",
			"system:controller:disruption-controller", "system:kube-controller-manager", "system:controller:storage-version-migrator-controller"))
	})
})
