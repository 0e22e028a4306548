// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/cmd/platform"
	"github.com/unikorn-cloud/instance-apiserver/pkg/controller"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/quota"
)

// name is that of the lease and of the reporter of events.
const name = "instance-controller"

// run works until ctx ends and everything it began is finished.
func run(ctx context.Context, options *Options) error {
	ctrl.SetLogger(klog.Background())
	clients, err := options.Platform.Connect(nil)
	if err != nil {
		return err
	}
	hostConfig, err := options.Host.config()
	if err != nil {
		return err
	}
	mgr, err := newManager(hostConfig, options)
	if err != nil {
		return err
	}
	if err := addController(ctx, mgr, hostConfig, clients, options); err != nil {
		return err
	}

	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { clients.Run(background) })
	defer running.Wait()
	defer stop()
	return mgr.Start(ctx)
}

func (o *HostOptions) config() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", o.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("host cluster: %w", err)
	}
	config.QPS, config.Burst = o.QPS, o.Burst
	return rest.AddUserAgent(config, name), nil
}

func newManager(hostConfig *rest.Config, options *Options) (manager.Manager, error) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	mergeMetrics()
	warmup := true
	mgr, err := manager.New(hostConfig, manager.Options{
		Scheme:                  scheme,
		Logger:                  ctrl.Log,
		Cache:                   cache.Options{DefaultTransform: cache.TransformStripManagedFields()},
		Controller:              config.Controller{EnableWarmup: &warmup},
		LeaderElection:          options.Election.Enabled,
		LeaderElectionID:        name,
		LeaderElectionNamespace: options.Election.Namespace,
		LeaseDuration:           &options.Election.LeaseDuration,
		RenewDeadline:           &options.Election.RenewDeadline,
		RetryPeriod:             &options.Election.RetryPeriod,
		// The process ends with the manager, and the manager gives the lease
		// back after the last pass.
		LeaderElectionReleaseOnCancel: true,
		Metrics:                       metricsserver.Options{BindAddress: options.MetricsAddress},
		HealthProbeBindAddress:        options.HealthAddress,
	})
	if err != nil {
		return nil, err
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return nil, err
	}
	return mgr, mgr.AddReadyzCheck("ping", healthz.Ping)
}

func addController(ctx context.Context, mgr manager.Manager, hostConfig *rest.Config, clients *platform.Clients, options *Options) error {
	signer, err := principal.NewSigner(clients.Credentials)
	if err != nil {
		return fmt.Errorf("--client-key-file: %w", err)
	}
	host, err := kubernetes.NewForConfig(hostConfig)
	if err != nil {
		return fmt.Errorf("client of the host cluster: %w", err)
	}
	clusterUID, err := platform.ClusterUID(ctx, host)
	if err != nil {
		return err
	}
	if err := controller.SetupIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	timing := options.Timing
	timing.Moving = min(timing.Moving, timing.Steady)
	changes := make(controller.Changes)
	reconciler := controller.NewReconciler(controller.Config{
		Client:   mgr.GetClient(),
		Reader:   mgr.GetAPIReader(),
		Recorder: mgr.GetEventRecorder(name),
		Region:   clients.Region,
		Identity: clients.Identity,
		Signer:   signer,
		Ledger:   quota.NewLedger(options.Platform.AddressKind, clusterUID),
		Poller:   controller.NewPoller(clients.Region, signer, clock.RealClock{}, timing, changes.Send),
		Clock:    clock.RealClock{},
		Timing:   timing,
	})
	return reconciler.Setup(mgr, changes, options.Workers)
}
