// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/unikorn-cloud/instance-apiserver/pkg/storage/crbacked"
)

var recordVersion = schema.GroupVersion{Group: "conformance.unikorn-cloud.org", Version: "v1"}

// Records of pods in a namespace, and of pods the suite creates in none.
var (
	namespaced    = crbacked.Names{GroupVersion: recordVersion, Kind: "PodRecord", Resource: "podrecords"}
	clusterScoped = crbacked.Names{GroupVersion: recordVersion, Kind: "ClusterPodRecord", Resource: "clusterpodrecords"}
)

// host is a control plane to store in.
type host struct {
	config *rest.Config
	client kubernetes.Interface
	etcd   *url.URL
}

// The control planes of this test binary. caching is as people run it; direct
// reads etcd for every answer, for those tests of the suite which compact
// versions away. Neither writes anything on its own, since some tests count
// versions: there is no lease to renew and no endpoint.
var caching, direct *host

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	stopCaching, err := start(&caching, "true")
	defer stopCaching()
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the control plane:", err)
		return 1
	}
	stopDirect, err := start(&direct, "false")
	defer stopDirect()
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the control plane without cache:", err)
		return 1
	}
	return m.Run()
}

func start(into **host, watchCache string) (stop func(), err error) {
	_, here, _, _ := runtime.Caller(0)
	environment := &envtest.Environment{
		BinaryAssetsDirectory: filepath.Join(filepath.Dir(here), "..", "..", "..", "bin"),
		CRDs: []*apiextensionsv1.CustomResourceDefinition{
			definition(namespaced, apiextensionsv1.NamespaceScoped),
			definition(clusterScoped, apiextensionsv1.ClusterScoped),
		},
	}
	environment.ControlPlane.GetAPIServer().Configure().
		Set("watch-cache", watchCache).
		Set("feature-gates", "APIServerIdentity=false,UnknownVersionInteroperabilityProxy=false").
		Set("endpoint-reconciler-type", "none")
	config, err := environment.Start()
	stop = func() {
		if err := environment.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop the control plane:", err)
		}
	}
	if err != nil {
		return stop, err
	}
	config = rest.CopyConfig(config)
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	*into = &host{config: config, client: client, etcd: environment.ControlPlane.Etcd.URL}
	return stop, err
}

func definition(names crbacked.Names, scope apiextensionsv1.ResourceScope) *apiextensionsv1.CustomResourceDefinition {
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: names.Resource + "." + names.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: names.Group,
			Scope: scope,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Kind: names.Kind, Plural: names.Resource, Singular: strings.ToLower(names.Kind), ListKind: names.Kind + "List",
			},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: names.Version, Served: true, Storage: true,
				SelectableFields: []apiextensionsv1.SelectableField{{JSONPath: ".spec.nodeName"}},
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object",
					Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": {
						Type: "object",
						Properties: map[string]apiextensionsv1.JSONSchemaProps{
							"nodeName": text,
							"given":    {Type: "object", XPreserveUnknownFields: ptr.To(true)},
							"pod":      {Type: "object", XPreserveUnknownFields: ptr.To(true)},
						},
					}},
				}},
			}},
		},
	}
}

// increaseRV moves the host's version on by one, and says where to.
func (h *host) increaseRV(ctx context.Context, t *testing.T) int64 {
	t.Helper()
	created, err := h.client.CoreV1().ConfigMaps(metav1.NamespaceDefault).Create(ctx,
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "revision-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("move the version on: %v", err)
	}
	version, err := strconv.ParseInt(created.ResourceVersion, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return version
}

// compact makes the host's etcd forget what is older than resourceVersion. It
// is a write of its own, as it is with the suite's etcd.
func (h *host) compact(ctx context.Context, t *testing.T, resourceVersion string) {
	t.Helper()
	revision, err := strconv.ParseInt(resourceVersion, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{h.etcd.String()}})
	if err != nil {
		t.Fatalf("reach etcd: %v", err)
	}
	defer func() { _ = client.Close() }()
	if _, err := client.Put(ctx, "compacted", resourceVersion); err != nil {
		t.Fatalf("move the version on: %v", err)
	}
	if _, err := client.Compact(ctx, revision, clientv3.WithCompactPhysical()); err != nil {
		t.Fatalf("compact at %s: %v", resourceVersion, err)
	}
}
