// SPDX-License-Identifier: Apache-2.0

package operations

import (
	"context"
	"math"
	"net/http"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/controller"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

// shortestPause is the shortest time between two lists of servers by the
// controller, the later of which was after the machine was told to stop.
func shortestPause(ctx context.Context) time.Duration {
	GinkgoHelper()
	told := withMethod(RequestsIn(ctx, principal.FormA), http.MethodPost)
	Expect(told).NotTo(BeEmpty())
	Expect(told[len(told)-1].Path).To(HaveSuffix("/stop"))
	shortest := time.Duration(math.MaxInt64)
	var last time.Time
	for _, request := range withMethod(RequestsIn(ctx, principal.FormB), http.MethodGet) {
		if ShortPath(request.Path) != "servers" {
			continue
		}
		if request.StartedAt.After(told[len(told)-1].StartedAt) {
			shortest = min(shortest, request.StartedAt.Sub(last))
		}
		last = request.StartedAt
	}
	return shortest
}

var _ = Describe("An Instance whose power is switched", func() {
	const name = "web-1"

	ready := func(ctx context.Context) metav1.Condition {
		return ConditionOf(Get(ctx, name), v1beta1.ConditionReady)
	}

	It("is soon shown as it is, and is not Ready before", func(ctx SpecContext) {
		editor := Hearing(environment.AlphaEditor)
		Create(ctx, name)
		generation := AwaitInPlace(ctx, name).Generation

		before := PlatformWrites(ctx)
		_, err := switchPower(ctx, editor, name, v1beta1.PowerActionStop)
		Expect(err).NotTo(HaveOccurred())
		Expect(Get(ctx, name)).To(Or(
			HaveField("Status.PowerState", v1beta1.PowerStateStopped),
			WithTransform(func(instance *v1beta1.Instance) metav1.ConditionStatus {
				return ConditionOf(instance, v1beta1.ConditionReady).Status
			}, Equal(metav1.ConditionFalse))), "it must not be Ready as it ran before")
		AsEditor(ctx, "-n", Alpha, "wait", "inst/"+name, "--for=jsonpath={.status.powerState}=Stopped", "--timeout=60s")
		// On a busy machine only the pace of the looks says that it was soon.
		Expect(shortestPause(ctx)).To(BeNumerically("<", controller.DefaultTiming.Steady/2))
		AsEditor(ctx, "-n", Alpha, "wait", "inst/"+name, "--for=condition=Ready", "--timeout=60s")
		Expect(ready(ctx).Reason).To(Equal("Stopped"))

		_, err = switchPower(ctx, editor, name, v1beta1.PowerActionStart)
		Expect(err).NotTo(HaveOccurred())
		AsEditor(ctx, "-n", Alpha, "wait", "inst/"+name, "--for=condition=Ready", "--timeout=60s")
		Expect(ready(ctx).Reason).To(Equal("Running"))

		Expect(editor.Said()).To(BeEmpty())
		Expect(Get(ctx, name).Generation).To(Equal(generation))
		Expect(PlatformWrites(ctx)[len(before):]).To(HaveExactElements(HaveSuffix("/stop"), HaveSuffix("/start")))
	})

	It("is not told by anybody else what was asked for", func(ctx SpecContext) {
		const key = "compute.unikorn-cloud.org/power-requested"
		Create(ctx, name)
		AwaitInPlace(ctx, name)
		changed, err := Merge(ctx, environment.AlphaEditor, name, `{"metadata":{"annotations":{"`+key+`":"Stopped 2100-01-01T00:00:00Z"}}}`)
		Expect(err).NotTo(HaveOccurred())
		Expect(changed.Annotations).NotTo(HaveKey(key))
		Expect(ready(ctx).Status).To(Equal(metav1.ConditionTrue))
	})
})
