// SPDX-License-Identifier: Apache-2.0

// Package tenancy says which organization and project a namespace belongs to.
package tenancy

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
)

// Scope is the owner of what a namespace holds.
type Scope struct {
	Organization ids.OrganizationID
	Project      ids.ProjectID
}

// UnboundError says that a namespace has no one owner, and why.
type UnboundError struct {
	Namespace string
	Reason    string
}

func (e *UnboundError) Error() string {
	return fmt.Sprintf("namespace %q %s", e.Namespace, e.Reason)
}

// byProject indexes namespaces by the project they are bound to.
const byProject = "project"

// Namespaces reads the binding from the namespaces' labels.
type Namespaces struct {
	indexer cache.Indexer
	client  corev1client.NamespaceInterface
}

// NewNamespaces returns the bindings of the namespaces that the informer sees.
// The caller starts the informer. It fails where the informer was stopped.
func NewNamespaces(informer coreinformers.NamespaceInformer, client corev1client.NamespaceInterface) (*Namespaces, error) {
	shared := informer.Informer()
	err := shared.AddIndexers(cache.Indexers{byProject: func(obj any) ([]string, error) {
		namespace, ok := obj.(*corev1.Namespace)
		if !ok || namespace.Labels[v1alpha1.LabelProject] == "" {
			return nil, nil
		}
		return []string{namespace.Labels[v1alpha1.LabelProject]}, nil
	}})
	if err != nil {
		return nil, fmt.Errorf("index namespaces by project: %w", err)
	}
	return &Namespaces{indexer: shared.GetIndexer(), client: client}, nil
}

// Scope returns the owner of the namespace. A namespace without an owner, or
// one of several of the same project, is an *UnboundError.
//
// It asks the host rather than the informer: a label that was just set must
// count at once, and a label that was just taken away must not count any more.
// The informer only finds other namespaces of the same project.
func (n *Namespaces) Scope(ctx context.Context, name string) (Scope, error) {
	namespace, err := n.client.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return Scope{}, &UnboundError{Namespace: name, Reason: "does not exist"}
	}
	if err != nil {
		return Scope{}, fmt.Errorf("read namespace %q: %w", name, err)
	}
	scope := Scope{
		Organization: ids.OrganizationID(namespace.Labels[v1alpha1.LabelOrganization]),
		Project:      ids.ProjectID(namespace.Labels[v1alpha1.LabelProject]),
	}
	if scope.Organization == "" || scope.Project == "" {
		return Scope{}, &UnboundError{Namespace: name, Reason: fmt.Sprintf(
			"is not bound to a project: an operator must set the labels %s and %s",
			v1alpha1.LabelOrganization, v1alpha1.LabelProject)}
	}
	if err := n.refuseSecond(name, scope.Project); err != nil {
		return Scope{}, err
	}
	return scope, nil
}

// refuseSecond fails where another namespace is bound to the same project:
// names are unique on a network, and a network belongs to one project, so two
// namespaces of one project could each hold the same name.
func (n *Namespaces) refuseSecond(name string, project ids.ProjectID) error {
	others, err := n.indexer.IndexKeys(byProject, string(project))
	if err != nil {
		return fmt.Errorf("look up namespaces of project: %w", err)
	}
	for _, other := range others {
		if other != name {
			return &UnboundError{Namespace: name, Reason: "is not the only namespace bound to its project: " +
				"an operator must take the labels off all but one"}
		}
	}
	return nil
}
