// SPDX-License-Identifier: Apache-2.0

package operations

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/process"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/fault"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

const (
	consoleOutput = "/consoleoutput$"
	// placesOfOne is how many logs one user may follow on one replica.
	placesOfOne = 8
	// stopsAtOnce is far less than the minute for which a server waits for a
	// connection that is in use.
	stopsAtOnce = 25 * time.Second
)

// extraReplica is a replica that gets no requests but those of a spec.
type extraReplica struct {
	process *process.Process
	address string
}

// startReplica starts a replica as the first one was, but for its port.
func startReplica(ctx context.Context) *extraReplica {
	GinkgoHelper()
	content, err := os.ReadFile(filepath.Join(string(Env.Folder), "pids", "instance-apiserver-0.pid"))
	Expect(err).NotTo(HaveOccurred())
	commandLine, err := os.ReadFile(fmt.Sprintf("/proc/%s/cmdline", strings.TrimSpace(string(content))))
	Expect(err).NotTo(HaveOccurred())
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	address := listener.Addr().String()
	Expect(listener.Close()).To(Succeed())

	arguments := strings.Split(strings.TrimRight(string(commandLine), "\x00"), "\x00")
	_, port, err := net.SplitHostPort(address)
	Expect(err).NotTo(HaveOccurred())
	var kept []string
	for _, argument := range arguments[1:] {
		if !strings.HasPrefix(argument, "--audit") && !strings.HasPrefix(argument, "--secure-port") {
			kept = append(kept, argument)
		}
	}
	folder := GinkgoT().TempDir()
	started, err := process.Start(process.Command{
		Path: arguments[0], Args: append(kept, "--secure-port="+port),
		LogFile: filepath.Join(folder, "log"), PidFile: filepath.Join(folder, "pid"),
	})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(started.Stop(time.Second)).To(Succeed()) })
	replica := &extraReplica{started, address}
	Eventually(func() (int, error) { return replica.get(ctx, environment.Admin, "/readyz") }).WithContext(ctx).Should(Equal(http.StatusOK))
	return replica
}

// get returns the code of an answer, whose body it does not read.
func (r *extraReplica) get(ctx context.Context, person, path string) (int, error) {
	client, err := rest.HTTPClientFor(ConfigOf(person))
	if err != nil {
		return 0, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+r.address+path, http.NoBody)
	if err != nil {
		return 0, err
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}

// stall follows a log without reading any of it but its first line, and returns
// the code in that.
func (r *extraReplica) stall(ctx context.Context, person, path string) int {
	GinkgoHelper()
	config, err := rest.TLSConfigFor(ConfigOf(person))
	Expect(err).NotTo(HaveOccurred())
	plain, err := (&net.Dialer{}).DialContext(ctx, "tcp", r.address)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(plain.Close()).To(Succeed()) })
	Expect(plain.(*net.TCPConn).SetReadBuffer(4096)).To(Succeed())
	config.ServerName = "127.0.0.1"
	secured := tls.Client(plain, config)
	_, err = fmt.Fprintf(secured, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", path, r.address)
	Expect(err).NotTo(HaveOccurred())
	line, err := bufio.NewReaderSize(secured, 16).ReadString('\n')
	Expect(err).NotTo(HaveOccurred())
	var code int
	_, err = fmt.Sscanf(line, "HTTP/1.1 %d", &code)
	Expect(err).NotTo(HaveOccurred())
	return code
}

// torrent has the console of each machine show a MiB that it did not show
// before.
func torrent(ctx context.Context, number int) {
	GinkgoHelper()
	body, err := json.Marshal(map[string]string{"contents": string(bytes.Repeat([]byte{byte('a' + number%26)}, 1<<20))})
	Expect(err).NotTo(HaveOccurred())
	Expect(Simulator().SetFaults(ctx, fault.Fault{Service: "region", Path: consoleOutput, Status: ptr.To(200), Body: body})).To(Succeed())
}

var _ = Describe("Those who follow a log", func() {
	const name, log = "web-1", listPath + "/web-1/log?follow=true"

	BeforeEach(func(ctx SpecContext) {
		Create(ctx, name)
		AwaitRunning(ctx, name)
	})

	It("cannot keep others from it by not reading, nor the server from stopping", func(ctx SpecContext) {
		WithFaults(ctx)
		replica := startReplica(ctx)
		take := func() {
			GinkgoHelper()
			for range placesOfOne {
				Expect(replica.stall(ctx, environment.AlphaViewer, log)).To(Equal(http.StatusOK))
			}
			Expect(replica.get(ctx, environment.AlphaViewer, log)).To(Equal(http.StatusTooManyRequests))
		}
		torrent(ctx, 0)
		take()
		Expect(replica.get(ctx, environment.AlphaEditor, log)).To(Equal(http.StatusOK), "one has all places")

		number := 0
		Eventually(func(ctx context.Context) (int, error) {
			number++
			torrent(ctx, number)
			return replica.get(ctx, environment.AlphaViewer, log)
		}).WithContext(ctx).WithPolling(2 * time.Second).Should(Equal(http.StatusOK))
		Eventually(func() (int, error) { return replica.get(ctx, environment.AlphaViewer, log) }).WithContext(ctx).Should(Equal(http.StatusOK))

		replica = startReplica(ctx)
		take()
		// More than the kernel keeps for them. Who begins has the console read.
		for range 8 {
			number++
			torrent(ctx, number)
			Expect(replica.get(ctx, environment.AlphaEditor, log)).To(Equal(http.StatusOK))
		}
		asked := time.Now()
		Expect(replica.process.Stop(2 * time.Minute)).To(Succeed())
		Expect(time.Since(asked)).To(BeNumerically("<", stopsAtOnce))
	})

	It("do not see the next machine of its name", func(ctx SpecContext) {
		viewed := follow(InAlpha(), name, 0)
		WithFaults(ctx, fault.Fault{Service: "region", Path: consoleOutput, Status: ptr.To(503)})
		before := Get(ctx, name)
		Expect(InAlpha().Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
		Eventually(func() error {
			_, err := InAlpha().Create(ctx, NewInstance(name), metav1.CreateOptions{})
			return err
		}).WithContext(ctx).Should(Succeed())
		after := AwaitRunning(ctx, name)
		Expect(after.Status.InstanceID).To(Equal(before.Status.InstanceID))
		Expect(after.UID).NotTo(Equal(before.UID))
		Expect(Simulator().ClearFaults(ctx)).To(Succeed())
		Eventually(viewed.over).WithContext(ctx).Should(BeTrue())
		Expect(viewed.seen()).NotTo(ContainElement(ContainSubstring("datasource")))
	})
})
