// SPDX-License-Identifier: Apache-2.0

package tenancy_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/computetest"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/tenancy"
)

var acmeAlpha = tenancy.Scope{Organization: computetest.Organization, Project: computetest.Project}

func namespace(name string, scope tenancy.Scope) *corev1.Namespace {
	labels := map[string]string{}
	if scope.Organization != "" {
		labels[v1alpha1.LabelOrganization] = string(scope.Organization)
	}
	if scope.Project != "" {
		labels[v1alpha1.LabelProject] = string(scope.Project)
	}
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
}

// host is a cluster with namespaces, and what is read of them there.
func host(t *testing.T, namespaces ...runtime.Object) (*fake.Clientset, *tenancy.Namespaces) {
	t.Helper()
	client := fake.NewClientset(namespaces...)
	factory := informers.NewSharedInformerFactory(client, 0)
	bindings, err := tenancy.NewNamespaces(factory.Core().V1().Namespaces(), client.CoreV1().Namespaces())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(func() { stop(); factory.Shutdown() })
	factory.StartWithContext(ctx)
	for informer, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			t.Fatalf("%v did not fill", informer)
		}
	}
	return client, bindings
}

func TestScope(t *testing.T) {
	tests := map[string]struct {
		namespaces []runtime.Object
		want       tenancy.Scope
		// unbound is what the error says; empty for none.
		unbound string
	}{
		"bound": {
			namespaces: []runtime.Object{namespace("alpha", acmeAlpha)},
			want:       acmeAlpha,
		},
		"beside other projects": {
			namespaces: []runtime.Object{
				namespace("alpha", acmeAlpha),
				namespace("beta", tenancy.Scope{Organization: computetest.Organization, Project: computetest.OtherProject}),
				namespace("kube-system", tenancy.Scope{}),
			},
			want: acmeAlpha,
		},
		"missing":                 {unbound: "does not exist"},
		"without labels":          {namespaces: []runtime.Object{namespace("alpha", tenancy.Scope{})}, unbound: "is not bound to a project"},
		"without organization":    {namespaces: []runtime.Object{namespace("alpha", tenancy.Scope{Project: acmeAlpha.Project})}, unbound: "is not bound to a project"},
		"without project":         {namespaces: []runtime.Object{namespace("alpha", tenancy.Scope{Organization: acmeAlpha.Organization})}, unbound: "is not bound to a project"},
		"one of two of a project": {namespaces: []runtime.Object{namespace("alpha", acmeAlpha), namespace("alpha-2", acmeAlpha)}, unbound: "is not the only namespace"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, bindings := host(t, test.namespaces...)
			got, err := bindings.Scope(t.Context(), "alpha")
			if test.unbound == "" {
				if err != nil || got != test.want {
					t.Errorf("got %v, %v, want %v", got, err, test.want)
				}
				return
			}
			var unbound *tenancy.UnboundError
			if !errors.As(err, &unbound) {
				t.Fatalf("got %v, %v, want an UnboundError", got, err)
			}
			if unbound.Namespace != "alpha" || !strings.Contains(unbound.Error(), test.unbound) {
				t.Errorf("got %q, want it to say %q", unbound, test.unbound)
			}
			if got != (tenancy.Scope{}) {
				t.Errorf("unbound, and yet of %v", got)
			}
		})
	}
}

// The host says a new label before any informer does.
func TestLabelsCountAtOnce(t *testing.T) {
	client, bindings := host(t, namespace("alpha", tenancy.Scope{}))
	for _, want := range []tenancy.Scope{acmeAlpha, {Organization: computetest.OtherOrganization, Project: computetest.OtherProject}} {
		if _, err := client.CoreV1().Namespaces().Update(t.Context(), namespace("alpha", want), metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		if got, err := bindings.Scope(t.Context(), "alpha"); err != nil || got != want {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	}
}

func TestErrorsOfTheHostAreKept(t *testing.T) {
	client, bindings := host(t, namespace("alpha", acmeAlpha))
	client.PrependReactor("get", "namespaces", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewTooManyRequests("slow down", 3)
	})
	_, err := bindings.Scope(t.Context(), "alpha")
	if !apierrors.IsTooManyRequests(err) {
		t.Errorf("got %v, want the host's own error", err)
	}
	var unbound *tenancy.UnboundError
	if errors.As(err, &unbound) {
		t.Errorf("%v is no statement about the binding", err)
	}
}
