// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/simulator/fault"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

// mergeOnce is merge that does not repeat a request that was answered with
// Retry-After, as clients do.
func mergeOnce(ctx context.Context, name, patch string) error {
	GinkgoHelper()
	client := InstancesFor(ConfigOf(environment.AlphaEditor)).ComputeV1beta1().RESTClient()
	return client.Patch(types.MergePatchType).Namespace(Alpha).Resource("instances").Name(name).Body([]byte(patch)).MaxRetries(0).Do(ctx).Error()
}

var _ = Describe("A body that is no Instance is 400", func() {
	DescribeTable("and nothing is made",
		func(ctx SpecContext, body string) {
			client := InstancesFor(ConfigOf(environment.AlphaEditor)).ComputeV1beta1().RESTClient()
			err := client.Post().Namespace(Alpha).Resource("instances").SetHeader("Content-Type", "application/json").Body([]byte(body)).Do(ctx).Error()
			Expect(err).To(BeRefused(400, metav1.StatusReasonBadRequest))
			Expect(Charged(ctx)).To(BeEmpty())
		},
		Entry("nothing", ``),
		Entry("not JSON", `{"apiVersion":`),
		Entry("no object", `[]`),
		Entry("another kind", `{"apiVersion":"compute.unikorn-cloud.org/v1beta1","kind":"InstanceList"}`),
		Entry("a value of another type", `{"apiVersion":"compute.unikorn-cloud.org/v1beta1","kind":"Instance","metadata":{"name":"web-1"},"spec":{"paused":"yes"}}`),
		Entry("an id that is no string", `{"apiVersion":"compute.unikorn-cloud.org/v1beta1","kind":"Instance","metadata":{"name":"web-1"},"spec":{"flavorID":5}}`),
	)

	DescribeTable("in a patch as well",
		func(ctx SpecContext, kind types.PatchType, body string) {
			Create(ctx, "web-1")
			_, err := InAlpha().Patch(ctx, "web-1", kind, []byte(body), metav1.PatchOptions{})
			Expect(err).To(BeRefused(400, metav1.StatusReasonBadRequest))
		},
		Entry("that is not JSON", types.MergePatchType, `{"spec":`),
		Entry("that is no list of operations", types.JSONPatchType, `{"spec":{}}`),
	)
})

var _ = Describe("While the platform has no answer", Serial, func() {
	DescribeTable("a create is 503 that names the service and says when to come back",
		func(ctx SpecContext, broken fault.Fault, seconds int) {
			WithFaults(ctx, broken)
			err := createOnce(ctx, NewInstance("web-1"))
			Expect(err).To(BeRefused(503, metav1.StatusReasonServiceUnavailable))
			status, _ := StatusOf(err)
			Expect(status.Details.RetryAfterSeconds).To(BeNumerically("==", seconds))
			Expect(status.Message).To(ContainSubstring("the " + broken.Service + " service is unavailable"))
			Expect(Get(ctx, "web-1")).To(BeNil())
			Expect(Charged(ctx)).To(BeEmpty())
		},
		Entry("region answers 500", fault.Fault{Service: "region", Status: ptr.To(http.StatusInternalServerError)}, 1),
		Entry("region is overloaded and says for how long", fault.Fault{
			Service: "region", Status: ptr.To(http.StatusServiceUnavailable), Headers: map[string]string{"Retry-After": "7"},
		}, 7),
		Entry("region takes no more requests", fault.Fault{Service: "region", Status: ptr.To(http.StatusTooManyRequests)}, 1),
		Entry("an ingress answers in its place", fault.Fault{Service: "region", Status: ptr.To(http.StatusBadGateway)}, 1),
		Entry("an ingress knows no such path", fault.Fault{
			Service: "region", Status: ptr.To(http.StatusNotFound), Body: json.RawMessage(`"404 page not found"`),
		}, 1),
		Entry("region drops the connection", fault.Fault{Service: "region", Status: ptr.To(0)}, 1),
		Entry("region does not speak JSON", fault.Fault{Service: "region", Status: ptr.To(http.StatusOK), Body: json.RawMessage(`"hello"`)}, 1),
		Entry("region answers with something else", fault.Fault{Service: "region", Path: "/networks/", Status: ptr.To(http.StatusOK), Body: json.RawMessage(`{}`)}, 1),
		Entry("region is cut off in the middle", fault.Fault{Service: "region", TruncateBytes: 20}, 1),
		Entry("region loses the list of images alone", fault.Fault{Service: "region", Path: "/images$", Status: ptr.To(0)}, 1),
		Entry("identity cannot take the charge", fault.Fault{Service: "identity", Status: ptr.To(http.StatusTooManyRequests)}, 1),
	)

	It("a create that an ingress gives up on is 504 that names the service", func(ctx SpecContext) {
		WithFaults(ctx, fault.Fault{Service: "region", Status: ptr.To(http.StatusGatewayTimeout)})
		err := createOnce(ctx, NewInstance("web-1"))
		Expect(err).To(BeRefused(504, metav1.StatusReasonTimeout))
		Expect(err).To(MatchError(ContainSubstring("the region service did not answer in time")))
		Expect(Charged(ctx)).To(BeEmpty())
	})

	DescribeTable("an update is 503 that names the service and says when to come back, and changes nothing",
		func(ctx SpecContext, down fault.Fault) {
			Create(ctx, "web-1", Behind(AlphaGroup))
			AwaitRunning(ctx, "web-1")
			WithFaults(ctx, down)
			err := mergeOnce(ctx, "web-1", `{"spec":{"networking":{"publicIP":true}}}`)
			Expect(err).To(BeRefused(503, metav1.StatusReasonServiceUnavailable))
			status, _ := StatusOf(err)
			Expect(status.Details.RetryAfterSeconds).To(BeNumerically(">", 0))
			Expect(status.Message).To(ContainSubstring("the " + down.Service + " service is unavailable"))
			Expect(Get(ctx, "web-1").Spec.Networking.PublicIP).To(BeFalse())
		},
		Entry("region is down", fault.Fault{Service: "region", Status: ptr.To(http.StatusServiceUnavailable)}),
		Entry("identity is down", fault.Fault{Service: "identity", Status: ptr.To(http.StatusServiceUnavailable)}),
		Entry("identity drops the connection", fault.Fault{Service: "identity", Status: ptr.To(0)}),
	)

	It("kubectl says which service it is", func(ctx SpecContext) {
		// Once: kubectl comes back when it is told to.
		WithFaults(ctx, fault.Fault{Service: "region", Status: ptr.To(http.StatusInternalServerError)})
		_, err := Env.Kubectl(ctx, environment.AlphaEditor, "create", "-f", Example("instance.yaml"))
		Expect(err).To(MatchError(ContainSubstring("the region service is unavailable, try again later")))
	})
})

var _ = Describe("While the platform refuses this service", Serial, func() {
	DescribeTable("a create is 500 that names the service, and the operator is told once what to do",
		func(ctx SpecContext, refusal fault.Fault, cause string) {
			// Each server tells it anew once it worked in between.
			for i := range Replicas() {
				Create(ctx, fmt.Sprintf("fine-%d", i))
			}
			told := len(advised(cause))
			WithFaults(ctx, refusal)
			for range 6 {
				_, err := InAlpha().Create(ctx, NewInstance("web-1"), metav1.CreateOptions{})
				Expect(err).To(BeRefused(500, metav1.StatusReasonInternalError))
				Expect(err).To(MatchError(ContainSubstring("the " + refusal.Service + " service refuses calls of this service")))
			}
			Expect(Get(ctx, "web-1")).To(BeNil())
			Expect(advised(cause)[told:]).To(And(Not(BeEmpty()), HaveEach(ContainSubstring("advice="))))
			Expect(len(advised(cause))-told).To(BeNumerically("<=", len(Replicas())), "once by each server")
		},
		Entry("region does not know it", fault.Fault{Service: "region", Path: "/networks/", Status: ptr.To(http.StatusUnauthorized)}, "identity"),
		Entry("region cannot use what it sends", fault.Fault{Service: "region", Path: "/networks/", Status: ptr.To(http.StatusBadRequest)}, "principal"),
		Entry("region does not understand it", fault.Fault{
			Service: "region", Path: "/flavors", Status: ptr.To(http.StatusUnprocessableEntity),
			Body: json.RawMessage(`{"error":"unprocessable_content","error_description":"no"}`),
		}, "version"),
		Entry("identity sees a conflict where none can be", fault.Fault{
			Service: "identity", Method: http.MethodPost, Status: ptr.To(http.StatusConflict),
			Body: json.RawMessage(`{"error":"conflict","error_description":"no"}`),
		}, "version"),
		Entry("identity gives it no rights", fault.Fault{
			Service: "identity", Method: http.MethodPost, Status: ptr.To(http.StatusForbidden),
			Body: json.RawMessage(`{"error":"forbidden","error_description":"rbac"}`),
		}, "role"),
	)
})

// advised are the lines in the logs of the API servers that tell an operator why
// the platform refuses the service, for one cause.
func advised(cause string) []string {
	GinkgoHelper()
	var lines []string
	for _, name := range []string{"instance-apiserver-0", "instance-apiserver-1"} {
		content, err := os.ReadFile(Env.Log(name))
		Expect(err).NotTo(HaveOccurred())
		for line := range strings.Lines(string(content)) {
			if strings.Contains(line, "The platform refuses this service") && strings.Contains(line, `cause="`+cause+`"`) {
				lines = append(lines, line)
			}
		}
	}
	return lines
}
