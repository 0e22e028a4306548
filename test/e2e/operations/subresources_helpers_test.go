// SPDX-License-Identifier: Apache-2.0

package operations

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	computev1beta1 "github.com/unikorn-cloud/instance-apiserver/pkg/generated/clientset/versioned/typed/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

const (
	acme    ids.OrganizationID = "0a000000-0000-4000-8000-0000000000a0"
	alphaID ids.ProjectID      = "0a000000-0000-4000-8000-0000000000a1"
	north   ids.RegionID       = "0c000000-0000-4000-8000-0000000000c0"
)

// switchPower asks for a power action.
func switchPower(ctx context.Context, as computev1beta1.InstanceInterface, name string, action v1beta1.PowerAction, dryRun ...string) (*v1beta1.InstancePower, error) {
	return as.CreatePower(ctx, name, &v1beta1.InstancePower{Spec: v1beta1.InstancePowerSpec{Action: action}}, metav1.CreateOptions{DryRun: dryRun})
}

// powerOf reads the state of a machine.
func powerOf(ctx context.Context, name string) (v1beta1.PowerState, error) {
	power, err := InAlpha().GetPower(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	return power.Status.PowerState, nil
}

// attempts are all requests that do something about a machine, or hand out
// something about it, by subresource.
func attempts(ctx context.Context, as computev1beta1.InstanceInterface, name string, dryRun ...string) map[string]error {
	options := metav1.CreateOptions{DryRun: dryRun}
	outcome := map[string]error{}
	_, outcome["power"] = switchPower(ctx, as, name, v1beta1.PowerActionReboot, dryRun...)
	_, outcome["console"] = as.CreateConsole(ctx, name, &v1beta1.InstanceConsole{}, options)
	_, outcome["snapshot"] = as.CreateSnapshot(ctx, name, snapshot("attempt"), options)
	_, outcome["sshkey"] = as.CreateSSHKey(ctx, name, &v1beta1.InstanceSSHKey{}, options)
	return outcome
}

// readings are all requests that only read about a machine.
func readings(ctx context.Context, as computev1beta1.InstanceInterface, name string) map[string]error {
	outcome := map[string]error{}
	_, outcome["power"] = as.GetPower(ctx, name, metav1.GetOptions{})
	// DoRaw would lose what an error says beside its code.
	outcome["log"] = as.GetLogs(name, &v1beta1.InstanceLogOptions{}).Do(ctx).Error()
	stream, err := as.GetLogs(name, &v1beta1.InstanceLogOptions{Follow: true}).Stream(ctx)
	if err == nil {
		err = stream.Close()
	}
	outcome["log?follow"] = err
	return outcome
}

func snapshot(name string, tags ...v1beta1.Tag) *v1beta1.InstanceSnapshot {
	return &v1beta1.InstanceSnapshot{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1beta1.InstanceSnapshotSpec{Tags: tags}}
}

// followed are the lines of a log as they arrive.
type followed struct {
	mu    sync.Mutex
	lines []string
	done  bool
}

// follow follows a log until the spec, or its group, ends.
func follow(as computev1beta1.InstanceInterface, name string, tail int64) *followed {
	GinkgoHelper()
	ctx, cancel := context.WithCancel(context.Background())
	stream, err := as.GetLogs(name, &v1beta1.InstanceLogOptions{Follow: true, TailLines: ptr.To(tail)}).Stream(ctx)
	if err != nil {
		cancel()
	}
	Expect(err).NotTo(HaveOccurred())
	f, read := &followed{}, make(chan struct{})
	go func() {
		defer close(read)
		f.read(stream)
	}()
	DeferCleanup(func() {
		cancel()
		<-read
		Expect(stream.Close()).To(Succeed())
	})
	return f
}

func (f *followed) read(stream io.Reader) {
	scanner := bufio.NewScanner(stream)
	for scanner.Scan() {
		f.mu.Lock()
		f.lines = append(f.lines, scanner.Text())
		f.mu.Unlock()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done = true
}

// seen are the lines so far.
func (f *followed) seen() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.lines)
}

// over tells whether the stream has ended.
func (f *followed) over() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.done
}

// raw sends a request through the cluster and returns its answer and body.
func raw(ctx context.Context, person, method, path, body string) (*http.Response, string) {
	GinkgoHelper()
	config := ConfigOf(person)
	client, err := rest.HTTPClientFor(config)
	Expect(err).NotTo(HaveOccurred())
	request, err := http.NewRequestWithContext(ctx, method, config.Host+path, strings.NewReader(body))
	Expect(err).NotTo(HaveOccurred())
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	Expect(err).NotTo(HaveOccurred())
	defer func() { Expect(response.Body.Close()).To(Succeed()) }()
	content, err := io.ReadAll(response.Body)
	Expect(err).NotTo(HaveOccurred())
	return response, string(content)
}

// requestsOf are the requests to region whose path ends like that, by method.
func requestsOf(ctx context.Context, suffix string) []string {
	GinkgoHelper()
	all, err := Simulator().Requests(ctx)
	Expect(err).NotTo(HaveOccurred())
	var found []string
	for _, request := range all {
		if request.Service == "region" && strings.HasSuffix(request.Path, suffix) {
			found = append(found, request.Method)
		}
	}
	return found
}

// awaitImage returns an image that the organization can boot from, as region
// shows it to the service.
func awaitImage(ctx context.Context, id ids.ImageID) region.Image {
	GinkgoHelper()
	pki := func(file string) string { return filepath.Join(string(Env.Folder), "pki", file) }
	files, err := unikorn.NewTLSFiles(pki("ca.crt"), pki("unikorn-compute.crt"), pki("unikorn-compute.key"))
	Expect(err).NotTo(HaveOccurred())
	client, err := region.New(unikorn.Config{Host: "https://" + AddressOf("region"), TLS: files})
	Expect(err).NotTo(HaveOccurred())
	somebody := principal.Service(principal.Principal{
		OrganizationID: acme, OrganizationIDs: []ids.OrganizationID{acme}, ProjectID: alphaID,
		Type: principal.TypeUser, Actor: environment.AlphaEditor,
	})
	var found region.Image
	Eventually(func(g Gomega) {
		images, err := client.Images(ctx, somebody, acme, north)
		g.Expect(err).NotTo(HaveOccurred())
		at := slices.IndexFunc(images, func(image region.Image) bool { return image.ID() == id })
		g.Expect(at).NotTo(Equal(-1))
		found = images[at]
	}).WithContext(ctx).Should(Succeed())
	return found
}

// plantedFor is a server that claims to be the instance's.
func plantedFor(instance *v1beta1.Instance, name string) region.Server {
	planted := region.Server{Metadata: unikorn.ProjectScopedReadMetadata{
		Name: name,
		Tags: []unikorn.Tag{{Name: region.InstanceTag, Value: string(instance.Status.InstanceID)}},
	}}
	planted.Spec.FlavorID, planted.Spec.ImageID = instance.Spec.FlavorID, instance.Spec.ImageID
	planted.Status.NetworkID = instance.Spec.NetworkID
	return planted
}
