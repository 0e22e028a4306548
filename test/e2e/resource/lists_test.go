// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"context"
	"encoding/json"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

// names are those of the Instances of namespace alpha that a list returns.
func names(ctx context.Context, options metav1.ListOptions) ([]string, error) {
	list, err := InAlpha().List(ctx, options)
	if err != nil {
		return nil, err
	}
	found := []string{}
	for _, instance := range list.Items {
		found = append(found, instance.Name)
	}
	return found, nil
}

// listAs asks for the Instances of namespace alpha in a content type.
func listAs(ctx context.Context, accept string) (status int, contentType string, body []byte) {
	GinkgoHelper()
	client := InstancesFor(ConfigOf(environment.AlphaEditor)).ComputeV1beta1().RESTClient()
	result := client.Get().Namespace(Alpha).Resource("instances").SetHeader("Accept", accept).Do(ctx)
	result.StatusCode(&status).ContentType(&contentType)
	body, err := result.Raw()
	if status == http.StatusOK {
		Expect(err).NotTo(HaveOccurred())
	}
	return status, contentType, body
}

var _ = Describe("Lists", Ordered, ContinueOnFailure, func() {
	BeforeAll(func(ctx SpecContext) {
		Create(ctx, "web-1", Labelled("team", "blue"), Labelled("tier", "web"))
		Create(ctx, "web-2", Labelled("team", "blue"), On(AlphaNet2))
		Create(ctx, "db-1", Labelled("team", "red"), func(instance *v1beta1.Instance) {
			instance.Spec.FlavorID, instance.Spec.ImageID = Gpu, Ubuntu2
		})
	})

	DescribeTable("select by labels",
		func(ctx SpecContext, selector string, want ...string) {
			Expect(names(ctx, metav1.ListOptions{LabelSelector: selector})).To(ConsistOf(want))
		},
		Entry("equal", "team=blue", "web-1", "web-2"),
		Entry("several", "team=blue,tier=web", "web-1"),
		Entry("unequal", "team!=blue", "db-1"),
		Entry("one of", "team in (red,green)", "db-1"),
		Entry("absent", "!tier", "web-2", "db-1"),
		Entry("of the platform", "regions.unikorn-cloud.org/network-id="+string(AlphaNet2), "web-2"),
		Entry("nothing", "team=green"),
	)

	DescribeTable("select by fields",
		func(ctx SpecContext, selector string, want ...string) {
			Expect(names(ctx, metav1.ListOptions{FieldSelector: selector})).To(ConsistOf(want))
		},
		Entry("the name", "metadata.name=web-1", "web-1"),
		Entry("a name that nothing has", "metadata.name=web-9"),
		Entry("the namespace", "metadata.namespace=alpha", "web-1", "web-2", "db-1"),
		Entry("the network", "spec.networkID="+string(AlphaNet2), "web-2"),
		Entry("a network that cannot be", "spec.networkID=é"),
		Entry("not a network that cannot be", "spec.networkID!=é", "web-1", "web-2", "db-1"),
		Entry("the region", "status.regionID=0c000000-0000-4000-8000-0000000000c0", "web-1", "web-2", "db-1"),
		Entry("another region", "status.regionID=0c000000-0000-4000-8000-0000000000c1"),
		Entry("the flavor", "spec.flavorID="+string(Gpu), "db-1"),
		Entry("not the flavor", "spec.flavorID!="+string(Gpu), "web-1", "web-2"),
		Entry("the image", "spec.imageID="+string(Ubuntu), "web-1", "web-2"),
		Entry("several", "spec.imageID="+string(Ubuntu)+",spec.networkID="+string(AlphaNet), "web-1"),
	)

	It("refuse to select by an unknown field with 400", func(ctx SpecContext) {
		_, err := names(ctx, metav1.ListOptions{FieldSelector: "spec.paused=true"})
		Expect(err).To(BeRefused(400, metav1.StatusReasonBadRequest))
		Expect(err).To(MatchError(ContainSubstring("spec.paused")))
	})

	It("come in pages of limit, with a token to continue", func(ctx SpecContext) {
		first, err := InAlpha().List(ctx, metav1.ListOptions{Limit: 2})
		Expect(err).NotTo(HaveOccurred())
		Expect(first.Items).To(HaveLen(2))
		Expect(first.Continue).NotTo(BeEmpty())
		Expect(first.RemainingItemCount).To(HaveValue(BeEquivalentTo(1)))
		second, err := InAlpha().List(ctx, metav1.ListOptions{Limit: 2, Continue: first.Continue})
		Expect(err).NotTo(HaveOccurred())
		Expect(second.Continue).To(BeEmpty())
		Expect(second.ResourceVersion).To(Equal(first.ResourceVersion))
		found := []string{}
		for _, instance := range append(first.Items, second.Items...) {
			found = append(found, instance.Name)
		}
		Expect(found).To(ConsistOf("web-1", "web-2", "db-1"))
		Expect(AsEditor(ctx, "get", "inst", "--chunk-size=1", "-o", "name")).To(And(
			ContainSubstring("web-1"), ContainSubstring("web-2"), ContainSubstring("db-1")))
	})

	It("across namespaces show each in its own", func(ctx SpecContext) {
		_, err := Instances(environment.BetaEditor, Beta).Create(ctx, NewInstance("web-1", On(BetaNet)), metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		list, err := Instances(environment.Admin, metav1.NamespaceAll).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=web-1"})
		Expect(err).NotTo(HaveOccurred())
		Expect(list.Items).To(ConsistOf(HaveField("Namespace", Alpha), HaveField("Namespace", Beta)))
	})

	It("are JSON, or a Table for those who ask for one", func(ctx SpecContext) {
		status, contentType, body := listAs(ctx, "application/json")
		Expect(status).To(Equal(http.StatusOK))
		Expect(contentType).To(Equal("application/json"))
		var list v1beta1.InstanceList
		Expect(json.Unmarshal(body, &list)).To(Succeed())
		Expect(list.Kind).To(Equal("InstanceList"))
		Expect(list.Items).To(HaveLen(3))

		status, _, body = listAs(ctx, "application/json;as=Table;v=v1;g=meta.k8s.io")
		Expect(status).To(Equal(http.StatusOK))
		var table metav1.Table
		Expect(json.Unmarshal(body, &table)).To(Succeed())
		Expect(table.Kind).To(Equal("Table"))
		Expect(table.Rows).To(HaveLen(3))
		Expect(table.ColumnDefinitions).To(HaveLen(11))
		Expect(table.ColumnDefinitions).To(HaveEach(HaveField("Description", Not(BeEmpty()))))
	})

	It("are not protobuf: asked for it alone the answer is 406, with JSON beside it is JSON", func(ctx SpecContext) {
		const protobuf = "application/vnd.kubernetes.protobuf"
		status, _, _ := listAs(ctx, protobuf)
		Expect(status).To(Equal(http.StatusNotAcceptable))
		status, contentType, _ := listAs(ctx, protobuf+",application/json")
		Expect(status).To(Equal(http.StatusOK))
		Expect(contentType).To(Equal("application/json"))
	})

	It("of a version that is not there yet are refused", func(ctx SpecContext) {
		client := InstancesFor(ConfigOf(environment.AlphaEditor)).ComputeV1beta1().RESTClient()
		err := client.Get().Namespace(Alpha).Resource("instances").MaxRetries(0).
			Param("resourceVersion", "4000000000").Param("resourceVersionMatch", "NotOlderThan").Do(ctx).Error()
		Expect(apierrors.IsTimeout(err)).To(BeTrue(), "%v", err)
	})
})

// next is the next event of one of the types about the Instance, or a bookmark.
func next(ctx context.Context, events watch.Interface, wanted ...watch.EventType) watch.Event {
	GinkgoHelper()
	var event watch.Event
	Eventually(events.ResultChan()).WithContext(ctx).Should(Receive(&event, HaveField("Type", BeElementOf(wanted))))
	return event
}

var _ = Describe("Watches", func() {
	begin := func(ctx context.Context, options metav1.ListOptions) watch.Interface {
		GinkgoHelper()
		events, err := InAlpha().Watch(ctx, options)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(events.Stop)
		return events
	}

	It("from a version show additions, changes and deletions, and nothing twice", func(ctx SpecContext) {
		list, err := InAlpha().List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		events := begin(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
		created := Create(ctx, "web-1")
		added := next(ctx, events, watch.Added, watch.Modified, watch.Deleted)
		Expect(added.Type).To(Equal(watch.Added))
		Expect(added.Object.(*v1beta1.Instance).UID).To(Equal(created.UID))

		AsEditor(ctx, "label", "inst", "web-1", "team=blue")
		Eventually(func() map[string]string {
			return next(ctx, events, watch.Modified).Object.(*v1beta1.Instance).Labels
		}).Should(HaveKeyWithValue("team", "blue"))

		Expect(InAlpha().Delete(ctx, "web-1", metav1.DeleteOptions{})).To(Succeed())
		deleted := next(ctx, events, watch.Deleted).Object.(*v1beta1.Instance)
		Expect(deleted.UID).To(Equal(created.UID))
		Expect(deleted.Name).To(Equal("web-1"))
	})

	It("show what enters and leaves a selection", func(ctx SpecContext) {
		events := begin(ctx, metav1.ListOptions{LabelSelector: "team=blue"})
		Create(ctx, "web-1")
		AsEditor(ctx, "label", "inst", "web-1", "team=blue")
		next(ctx, events, watch.Added)
		AsEditor(ctx, "label", "inst", "web-1", "team-")
		next(ctx, events, watch.Deleted)
		Expect(Get(ctx, "web-1").DeletionTimestamp).To(BeNil())
	})

	It("stream what there is, then a bookmark that says so", func(ctx SpecContext) {
		Create(ctx, "web-1")
		events := begin(ctx, metav1.ListOptions{
			SendInitialEvents: ptr.To(true), AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
		})
		var first, second watch.Event
		Eventually(events.ResultChan()).WithContext(ctx).Should(Receive(&first))
		Expect(first.Type).To(Equal(watch.Added))
		Eventually(func() watch.EventType {
			second = next(ctx, events, watch.Modified, watch.Bookmark)
			return second.Type
		}).Should(Equal(watch.Bookmark))
		bookmark := second.Object.(*v1beta1.Instance)
		Expect(bookmark.Annotations).To(Equal(map[string]string{metav1.InitialEventsAnnotationKey: "true"}))
		Expect(bookmark.ResourceVersion).NotTo(BeEmpty())
		Expect(bookmark.Name).To(BeEmpty(), "a bookmark is of no object")
	})

	It("get a last bookmark before their time is up, of what they were not shown, and end in time", func(ctx SpecContext) {
		Create(ctx, "web-1")
		// It comes about two seconds before the end, which a busy host may miss.
		Eventually(func() []watch.Event {
			list, err := InAlpha().List(ctx, metav1.ListOptions{})
			Expect(err).NotTo(HaveOccurred())
			events := begin(ctx, metav1.ListOptions{
				ResourceVersion: list.ResourceVersion, LabelSelector: "team=blue", AllowWatchBookmarks: true, TimeoutSeconds: ptr.To(int64(4)),
			})
			AsEditor(ctx, "annotate", "--overwrite", "inst", "web-1", "seen="+list.ResourceVersion)
			var seen []watch.Event
			for event := range events.ResultChan() {
				seen = append(seen, event)
			}
			return seen
		}).Should(ConsistOf(And(
			HaveField("Type", watch.Bookmark), HaveField("Object", HaveField("ResourceVersion", Not(BeEmpty()))))))
	})

	It("of one Instance by its name see no other", func(ctx SpecContext) {
		events := begin(ctx, metav1.ListOptions{FieldSelector: "metadata.name=web-2"})
		Create(ctx, "web-1")
		Create(ctx, "web-2")
		Expect(next(ctx, events, watch.Added, watch.Modified).Object.(*v1beta1.Instance).Name).To(Equal("web-2"))
	})
})
