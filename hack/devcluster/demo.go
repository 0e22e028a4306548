// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/watch"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
)

const (
	demo          = "demo"
	demoNamespace = "alpha"
	// demoPatience is how long a person wants to look at a demo that does not
	// run.
	demoPatience = time.Minute
)

var instances = schema.GroupVersionResource{Group: "compute.unikorn-cloud.org", Version: "v1beta1", Resource: "instances"}

func createDemo(ctx context.Context, config environment.Config, e *environment.Environment) error {
	manifest := filepath.Join(config.Artifacts, "examples", "demo.yaml")
	_, err := e.Kubectl(ctx, environment.AlphaEditor, "apply", "-f", manifest)
	return err
}

// showDemo prints what becomes of the Instance demo until it runs. One that
// does not is shown as it is and no error.
func showDemo(ctx context.Context, e *environment.Environment, out io.Writer) error {
	if err := followDemo(ctx, e, out); err != nil {
		return err
	}
	table, err := e.Kubectl(ctx, environment.AlphaEditor, "get", "inst")
	fmt.Fprintf(out, "\n$ kubectl get inst\n%s", table)
	return err
}

func followDemo(ctx context.Context, e *environment.Environment, out io.Writer) error {
	config, err := e.ClientConfig(environment.AlphaEditor)
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, demoPatience)
	defer cancel()
	shown := ""
	_, err = watch.UntilWithSync(limited, demoOnly(client), &unstructured.Unstructured{}, nil, func(event apiwatch.Event) (bool, error) {
		state, err := powerState(event.Object)
		if state != shown {
			fmt.Fprintf(out, "  instance %s/%s: %s\n", demoNamespace, demo, state)
			shown = state
		}
		return state == "Running", err
	})
	if errors.Is(limited.Err(), context.DeadlineExceeded) && ctx.Err() == nil {
		fmt.Fprintf(out, "  instance %s/%s does not run after %v: see its conditions and the logs\n", demoNamespace, demo, demoPatience)
		return nil
	}
	return err
}

func powerState(object runtime.Object) (string, error) {
	instance, ok := object.(*unstructured.Unstructured)
	if !ok {
		return "", fmt.Errorf("watch delivered %T", object)
	}
	state, found, err := unstructured.NestedString(instance.Object, "status", "powerState")
	if !found {
		state = "(no power state yet)"
	}
	return state, err
}

func demoOnly(client dynamic.Interface) cache.ListerWatcher {
	resource := client.Resource(instances).Namespace(demoNamespace)
	selector := fields.OneTermEqualSelector("metadata.name", demo).String()
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			options.FieldSelector = selector
			return resource.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (apiwatch.Interface, error) {
			options.FieldSelector = selector
			return resource.Watch(ctx, options)
		},
	}
}

// tour is what to try next.
func tour(config environment.Config) string {
	return fmt.Sprintf(`  export KUBECONFIG=%[1]s/%[2]s.kubeconfig PATH=%[3]s:$PATH
  kubectl get inst -o wide
  kubectl apply -f %[4]s/examples/instance.yaml
  kubectl get inst -w
  kubectl explain instance.spec
  kubectl delete inst --all
  curl $(cat %[1]s/simulator.url)/servers
`, absolutePath(config.Folder), environment.AlphaEditor, absolutePath(config.Binaries), config.Artifacts)
}

func absolutePath(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		return absolute
	}
	return path
}
