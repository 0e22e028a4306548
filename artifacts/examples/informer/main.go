// SPDX-License-Identifier: Apache-2.0

// Informer prints the instances of the namespace alpha as they come and change,
// for as long as it runs.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/generated/clientset/versioned"
	"github.com/unikorn-cloud/instance-apiserver/pkg/generated/informers/externalversions"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := follow(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func follow(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	client, err := versioned.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := externalversions.NewSharedInformerFactoryWithOptions(client, 0, externalversions.WithNamespace("alpha"))
	instances := factory.Compute().V1beta1().Instances()
	show := func(obj any) {
		instance := obj.(*v1beta1.Instance)
		ready := meta.IsStatusConditionTrue(instance.Status.Conditions, v1beta1.ConditionReady)
		fmt.Fprintln(os.Stdout, instance.Name, ready, instance.Status.PrivateIP)
	}
	if _, err := instances.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    show,
		UpdateFunc: func(_, now any) { show(now) },
	}); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	// What is there at the start is in the lister, and was shown as added.
	if !cache.WaitForCacheSync(ctx.Done(), instances.Informer().HasSynced) {
		return ctx.Err()
	}
	<-ctx.Done()
	return nil
}
