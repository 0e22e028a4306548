// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	"github.com/unikorn-cloud/instance-apiserver/hack/devcluster/environment"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/generated/informers/externalversions"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

var _ = Describe("A generated shared informer", func() {
	It("sees what is there, additions, updates and deletions, and lists them", func(ctx SpecContext) {
		Create(ctx, "web-1")
		client := InstancesFor(ConfigOf(environment.AlphaViewer))
		factory := externalversions.NewSharedInformerFactoryWithOptions(client, 0, externalversions.WithNamespace(Alpha))
		instances := factory.Compute().V1beta1().Instances()

		added, updated, deleted := make(chan *v1beta1.Instance, 100), make(chan *v1beta1.Instance, 100), make(chan *v1beta1.Instance, 100)
		_, err := instances.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(obj any) { added <- obj.(*v1beta1.Instance) },
			UpdateFunc: func(_, obj any) { updated <- obj.(*v1beta1.Instance) },
			DeleteFunc: func(obj any) { deleted <- obj.(*v1beta1.Instance) },
		})
		Expect(err).NotTo(HaveOccurred())
		factory.Start(ctx.Done())
		DeferCleanup(factory.Shutdown)
		Expect(factory.WaitForCacheSync(ctx.Done())).To(HaveEach(BeTrue()))
		Eventually(added).Should(Receive(HaveField("Name", "web-1")))

		Create(ctx, "web-2")
		Eventually(added).Should(Receive(HaveField("Name", "web-2")))
		AsEditor(ctx, "label", "inst", "web-2", "team=blue")
		Eventually(updated).Should(Receive(And(
			HaveField("Name", "web-2"), HaveField("Labels", HaveKeyWithValue("team", "blue")))))
		Eventually(updated).Should(Receive(And(
			HaveField("Name", "web-2"), HaveField("Status.PowerState", v1beta1.PowerStateRunning))))

		found, err := instances.Lister().Instances(Alpha).List(labels.SelectorFromSet(labels.Set{"team": "blue"}))
		Expect(err).NotTo(HaveOccurred())
		Expect(found).To(ConsistOf(HaveField("Name", "web-2")))

		Expect(InAlpha().Delete(ctx, "web-2", metav1.DeleteOptions{})).To(Succeed())
		Eventually(deleted).Should(Receive(HaveField("Name", "web-2")))
		left, err := instances.Lister().Instances(Alpha).List(labels.Everything())
		Expect(err).NotTo(HaveOccurred())
		Expect(left).To(ConsistOf(HaveField("Name", "web-1")))
	}, SpecTimeout(5*time.Minute))
})
