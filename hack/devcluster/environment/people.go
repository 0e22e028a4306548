// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// People of the fixture, named by what they may do where, and the
// administrator of the cluster.
const (
	Admin            = "admin"
	AlphaEditor      = "alpha-editor"
	AlphaViewer      = "alpha-viewer"
	BetaEditor       = "beta-editor"
	AlphaBetaEditor  = "alpha-beta-editor"
	AlphaGammaEditor = "alpha-gamma-editor"
)

// role is what artifacts/overlays/dev/tenants.yaml lets somebody do, told by
// the verb on Instances that needs it.
type role struct {
	namespace, verb string
}

const (
	edit = "create"
	view = "get"
)

type person struct {
	name  string
	roles []role
}

var fixture = []person{
	{AlphaEditor, []role{{"alpha", edit}}},
	{AlphaViewer, []role{{"alpha", view}}},
	{BetaEditor, []role{{"beta", edit}}},
	{AlphaBetaEditor, []role{{"alpha", edit}, {"beta", edit}}},
	{AlphaGammaEditor, []role{{"alpha", edit}, {"gamma", edit}}},
}

func people() []string {
	var names []string
	for _, person := range fixture {
		names = append(names, person.name)
	}
	return names
}

// awaitRights returns when everybody may do what the fixture says: the cluster
// folds our roles into view and edit some time after they were installed.
func (e *Environment) awaitRights(ctx context.Context) error {
	for _, person := range fixture {
		config, err := e.ClientConfig(person.name)
		if err != nil {
			return err
		}
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return err
		}
		for _, role := range person.roles {
			what := fmt.Sprintf("%s to be allowed to %s instances in %s", person.name, role.verb, role.namespace)
			if err := e.until(ctx, what, allowed(client, role)); err != nil {
				return err
			}
		}
	}
	return nil
}

func allowed(client kubernetes.Interface, role role) check {
	return func(ctx context.Context) error {
		review, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
				Group: "compute.unikorn-cloud.org", Resource: "instances", Namespace: role.namespace, Verb: role.verb,
			}},
		}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		if !review.Status.Allowed {
			return fmt.Errorf("not allowed %s", review.Status.Reason)
		}
		return nil
	}
}
