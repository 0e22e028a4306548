// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	computev1beta1 "github.com/unikorn-cloud/instance-apiserver/pkg/generated/clientset/versioned/typed/compute/v1beta1"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

const (
	racingPairs = 100
	// racingAtOnce is how many pairs race before the winners make room.
	racingAtOnce = 50
)

// toReplicas are clients of each replica of the API server itself.
func toReplicas() [2]computev1beta1.InstanceInterface {
	GinkgoHelper()
	var clients [2]computev1beta1.InstanceInterface
	for i, url := range Replicas() {
		config := ConfigOf(environment.AlphaEditor)
		config.Host = url
		config.ServerName = "instance-apiserver.unikorn-compute.svc"
		clients[i] = InstancesFor(config).ComputeV1beta1().Instances(Alpha)
	}
	return clients
}

// paused spares the platform the machines of those that never have two objects.
func paused(instance *v1beta1.Instance) { instance.Spec.Paused = true }

// race creates what rivals returns for each number, the two of a number at the
// same time, and returns the errors of all.
func race(ctx context.Context, clients [2]computev1beta1.InstanceInterface, from, to int, rivals func(int) [2]*v1beta1.Instance) [][2]error {
	outcomes := make([][2]error, to-from)
	ready := make(chan struct{})
	var running sync.WaitGroup
	for i := range outcomes {
		for side, rival := range rivals(from + i) {
			running.Go(func() {
				<-ready
				_, outcomes[i][side] = clients[side].Create(ctx, rival, metav1.CreateOptions{})
			})
		}
	}
	close(ready)
	running.Wait()
	return outcomes
}

// expectOneWinnerEach fails the spec unless of each pair one was created and the
// other was told that the name is taken. It returns how many of the winners
// were the first of their pair.
func expectOneWinnerEach(outcomes [][2]error) int {
	GinkgoHelper()
	first := 0
	for _, outcome := range outcomes {
		loser := outcome[0]
		if loser == nil {
			loser = outcome[1]
			first++
		} else {
			Expect(outcome[1]).NotTo(HaveOccurred(), "the other: %v", loser)
		}
		Expect(loser).To(HaveOccurred(), "both were created")
		Expect(loser).To(BeRefused(http.StatusConflict, metav1.StatusReasonAlreadyExists))
	}
	return first
}

// expectNothingOfLosers waits until so many winners are all there is and is
// charged for, each of them under its name.
func expectNothingOfLosers(ctx context.Context, winners int) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		list, err := ComputeInstances(Alpha).List(ctx, metav1.ListOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(list.Items).To(HaveLen(winners))
		ids := []string{}
		for _, item := range list.Items {
			g.Expect(item.GetLabels()).To(HaveKey(v1alpha1.LabelInstanceName))
			ids = append(ids, item.GetName())
		}
		g.Expect(Charged(ctx)).To(ConsistOf(ids), "one charge each")
	}).WithContext(ctx).Should(Succeed())
}

var _ = Describe("Racing creates", Serial, func() {
	DescribeTable(fmt.Sprintf("of %d pairs, to a replica each, have one winner each, and nothing is left of the losers", racingPairs),
		func(ctx SpecContext, rivals func(int) [2]*v1beta1.Instance) {
			Limit(ctx, "servers", 4*racingPairs)
			clients := toReplicas()
			first := 0
			for from := 0; from < racingPairs; from += racingAtOnce {
				By(fmt.Sprintf("pairs from %d on", from))
				outcomes := race(ctx, clients, from, from+racingAtOnce, rivals)
				first += expectOneWinnerEach(outcomes)
				By("what is left of them")
				expectNothingOfLosers(ctx, len(outcomes))
				By("room for the next")
				LeaveNothing(ctx)
			}
			AddReportEntry("won by the first of the pair", first)
		},
		Entry("on one network and name", func(i int) [2]*v1beta1.Instance {
			name := fmt.Sprintf("web-%d", i)
			return [2]*v1beta1.Instance{
				NewInstance(fmt.Sprintf("left-%d", i), Called(name), paused),
				NewInstance(fmt.Sprintf("right-%d", i), Called(name), paused),
			}
		}),
		Entry("on one metadata.name over two networks", func(i int) [2]*v1beta1.Instance {
			name := fmt.Sprintf("web-%d", i)
			return [2]*v1beta1.Instance{NewInstance(name), NewInstance(name, On(AlphaNet2))}
		}),
	)
})

var _ = Describe("A name that is generated", func() {
	It("for an Instance whose name on the network is taken is 409, and charged for once at the most", func(ctx SpecContext) {
		Create(ctx, "web-1", Called("www"))
		ForgetRequests(ctx)
		wanted := NewInstance("", Called("www"))
		wanted.GenerateName = "web-"
		_, err := InAlpha().Create(ctx, wanted, metav1.CreateOptions{})
		Expect(err).To(BeRefused(http.StatusConflict, metav1.StatusReasonAlreadyExists))
		Expect(apierrors.IsAlreadyExists(err)).To(BeTrue())
		Expect(Tries(ctx, http.MethodPost, "/allocations")).To(BeNumerically("<=", 1))
		Eventually(Charged).WithContext(ctx).Should(HaveLen(1))
	})
})
