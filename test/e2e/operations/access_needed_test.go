// SPDX-License-Identifier: Apache-2.0

package operations

import (
	"context"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

// neededRights are all that the service accounts of the processes may do, and
// what for. A right is a verb and a resource with its group, and the name and
// the namespace that it is limited to.
var neededRights = map[string]map[string]string{
	"instance-apiserver": {
		"get computeinstances.compute.unikorn-cloud.org":        "Instances are stored as these: an update begins with what is there",
		"list computeinstances.compute.unikorn-cloud.org":       "lists, look-ups of a name by its label, the check of names after a create",
		"watch computeinstances.compute.unikorn-cloud.org":      "watches",
		"create computeinstances.compute.unikorn-cloud.org":     "creates",
		"patch computeinstances.compute.unikorn-cloud.org":      "updates, patches and applies; the note that power was switched",
		"delete computeinstances.compute.unikorn-cloud.org":     "deletions, and creates that lost their name",
		"write computeinstances.compute.unikorn-cloud.org":      "asked for by the admission policy that guards them",
		"update instances.compute.unikorn-cloud.org/finalizers": "Instances that own others, where the cluster enforces it",
		"get namespaces":   "who is charged, read anew for each write; the uid of kube-system",
		"list namespaces":  "the same as watch, where lists are not streamed",
		"watch namespaces": "that a project has one namespace; the end of a namespace",
		"list mutatingwebhookconfigurations.admissionregistration.k8s.io":      "admission",
		"watch mutatingwebhookconfigurations.admissionregistration.k8s.io":     "admission",
		"list validatingwebhookconfigurations.admissionregistration.k8s.io":    "admission",
		"watch validatingwebhookconfigurations.admissionregistration.k8s.io":   "admission",
		"list validatingadmissionpolicies.admissionregistration.k8s.io":        "admission",
		"watch validatingadmissionpolicies.admissionregistration.k8s.io":       "admission",
		"list validatingadmissionpolicybindings.admissionregistration.k8s.io":  "admission",
		"watch validatingadmissionpolicybindings.admissionregistration.k8s.io": "admission",
		"list mutatingadmissionpolicies.admissionregistration.k8s.io":          "admission",
		"watch mutatingadmissionpolicies.admissionregistration.k8s.io":         "admission",
		"list mutatingadmissionpolicybindings.admissionregistration.k8s.io":    "admission",
		"watch mutatingadmissionpolicybindings.admissionregistration.k8s.io":   "admission",
		"list flowschemas.flowcontrol.apiserver.k8s.io":                        "priority and fairness",
		"watch flowschemas.flowcontrol.apiserver.k8s.io":                       "priority and fairness",
		"patch flowschemas.flowcontrol.apiserver.k8s.io/status":                "priority and fairness, of a FlowSchema that is new",
		"list prioritylevelconfigurations.flowcontrol.apiserver.k8s.io":        "priority and fairness",
		"watch prioritylevelconfigurations.flowcontrol.apiserver.k8s.io":       "priority and fairness",
		"create tokenreviews.authentication.k8s.io":                            "who asks directly with a token",
		"create subjectaccessreviews.authorization.k8s.io":                     "what who asks may do",
		"get configmaps extension-apiserver-authentication in kube-system":     "the front proxy's authority and headers, and the authority of people",
		"list configmaps extension-apiserver-authentication in kube-system":    "the same",
		"watch configmaps extension-apiserver-authentication in kube-system":   "changes of it",
	},
	"instance-controller": {
		"get computeinstances.compute.unikorn-cloud.org":                           "what is newer than the cache, before a server is made",
		"list computeinstances.compute.unikorn-cloud.org":                          "the same as watch, where lists are not streamed",
		"watch computeinstances.compute.unikorn-cloud.org":                         "what there is to do",
		"patch computeinstances.compute.unikorn-cloud.org":                         "the finalizer, and what is charged",
		"patch computeinstances.compute.unikorn-cloud.org/status":                  "the state of the machine",
		"write computeinstances.compute.unikorn-cloud.org":                         "asked for by the admission policy that guards them",
		"get namespaces kube-system":                                               "its uid names this cluster",
		"create events.events.k8s.io":                                              "what befell an Instance",
		"patch events.events.k8s.io":                                               "what did so again",
		"create leases.coordination.k8s.io in unikorn-compute":                     "one controller at a time",
		"get leases.coordination.k8s.io instance-controller in unikorn-compute":    "the same",
		"update leases.coordination.k8s.io instance-controller in unikorn-compute": "the same",
		"create events in unikorn-compute":                                         "who leads",
	},
}

// rightsOf are all that roles bound to a service account of ours give it, by
// itself and not as one of all.
func rightsOf(ctx context.Context, account string) []string {
	GinkgoHelper()
	client := ClientOf(environment.Admin).RbacV1()
	found := sets.New[string]()
	add := func(rules []rbacv1.PolicyRule, where string) {
		for _, rule := range rules {
			found.Insert(eachOf(rule, where)...)
		}
	}
	everywhere, err := client.ClusterRoleBindings().List(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	for _, binding := range everywhere.Items {
		if isFor(binding.Subjects, account) {
			add(rulesOf(ctx, binding.RoleRef, ""), "")
		}
	}
	somewhere, err := client.RoleBindings(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	for _, binding := range somewhere.Items {
		if isFor(binding.Subjects, account) {
			add(rulesOf(ctx, binding.RoleRef, binding.Namespace), " in "+binding.Namespace)
		}
	}
	return found.UnsortedList()
}

// isFor says whether a binding is for a service account of ours, or for any
// group that has it.
func isFor(subjects []rbacv1.Subject, account string) bool {
	return slices.ContainsFunc(subjects, func(subject rbacv1.Subject) bool {
		switch subject.Kind {
		case rbacv1.ServiceAccountKind:
			return subject.Name == account && subject.Namespace == "unikorn-compute"
		case rbacv1.UserKind:
			return subject.Name == "system:serviceaccount:unikorn-compute:"+account
		default:
			return strings.HasPrefix(subject.Name, "system:serviceaccounts:unikorn-compute")
		}
	})
}

func rulesOf(ctx context.Context, role rbacv1.RoleRef, namespace string) []rbacv1.PolicyRule {
	GinkgoHelper()
	client := ClientOf(environment.Admin).RbacV1()
	if role.Kind == "ClusterRole" {
		found, err := client.ClusterRoles().Get(ctx, role.Name, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		return found.Rules
	}
	found, err := client.Roles(namespace).Get(ctx, role.Name, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	return found.Rules
}

// eachOf takes a rule apart.
func eachOf(rule rbacv1.PolicyRule, where string) []string {
	var found []string
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			if group != "" {
				kind, subresource, below := strings.Cut(resource, "/")
				resource = kind + "." + group
				if below {
					resource += "/" + subresource
				}
			}
			for _, name := range append(rule.ResourceNames, "")[:max(1, len(rule.ResourceNames))] {
				for _, verb := range rule.Verbs {
					found = append(found, strings.TrimSpace(verb+" "+resource+" "+name)+where)
				}
			}
		}
	}
	for _, path := range rule.NonResourceURLs {
		for _, verb := range rule.Verbs {
			found = append(found, verb+" "+path)
		}
	}
	return found
}

var _ = Describe("The rights of the processes", func() {
	for account, needed := range neededRights {
		It("are of "+account+" exactly what it needs", func(ctx SpecContext) {
			wanted := []string{}
			for right := range needed {
				wanted = append(wanted, right)
			}
			Expect(rightsOf(ctx, account)).To(ConsistOf(wanted))
		})
	}

	// Whether they are enough shows at the end of the suite.
	It("are enough for a FlowSchema that appears, of which each API server says whether it leads anywhere", func(ctx SpecContext) {
		const name = "leads-nowhere"
		schemas := ClientOf(environment.Admin).FlowcontrolV1().FlowSchemas()
		_, err := schemas.Create(ctx, &flowcontrolv1.FlowSchema{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: flowcontrolv1.FlowSchemaSpec{
				MatchingPrecedence:         9000,
				PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: "nowhere"},
			},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) { Expect(schemas.Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed()) })
		Eventually(func() ([]flowcontrolv1.FlowSchemaCondition, error) {
			found, err := schemas.Get(ctx, name, metav1.GetOptions{})
			return found.Status.Conditions, err
		}).WithContext(ctx).Should(ContainElement(And(
			HaveField("Type", BeEquivalentTo(flowcontrolv1.FlowSchemaConditionDangling)), HaveField("Status", flowcontrolv1.ConditionTrue))))
	})
})
