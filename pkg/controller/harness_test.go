// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/quota"
)

// world is a cluster, a platform and a controller between them, in a bubble of
// its own time.
type world struct {
	*testing.T
	*fakePlatform
	cluster client.WithWatch
	events  *recorder
	timing  Timing
	// strict says that nobody but the controller changes servers: what it says
	// of them must be so.
	strict bool

	mu    sync.Mutex
	queue workqueue.TypedRateLimitingInterface[types.NamespacedName]
	stop  func()
}

// inWorld runs a test in a new world. A controller runs in it, and nothing else.
func inWorld(t *testing.T, test func(*world)) {
	t.Helper()
	inWorldOf(t, lostAnswer(t), test)
}

func inWorldOf(t *testing.T, lost error, test func(*world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, fakePlatform: newFakePlatform(t), events: &recorder{}, timing: DefaultTiming}
		w.faults.lost = lost
		w.cluster = newCluster(t, w.faults, w.checkClaim)
		w.start()
		defer func() { w.stop() }()
		test(w)
	})
}

// checkClaim fails the test if a status says wrongly that the spec is in place.
func (w *world) checkClaim(object *v1alpha1.ComputeInstance) {
	if w.strict && inPlace(object) && !w.matches(object) {
		w.Errorf("generation %d is called %s and is not in place", object.Generation, reasonOf(object))
	}
}

// newCluster is an API server with faults. Every status it stores is shown to
// the checks.
func newCluster(t *testing.T, faults *faults, checks ...func(*v1alpha1.ComputeInstance)) client.WithWatch {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	builder := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&v1alpha1.ComputeInstance{})
	for name, index := range indexes {
		builder.WithIndex(&v1alpha1.ComputeInstance{}, name, index)
	}
	return interceptor.NewClient(builder.Build(), interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, opts ...client.PatchOption) error {
			return faults.apply(ctx, "Patch", func() error { return c.Patch(ctx, object, patch, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, name string, object client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			return faults.apply(ctx, "PatchStatus", func() error {
				err := c.SubResource(name).Patch(ctx, object, patch, opts...)
				for _, check := range checks {
					if err == nil {
						check(object.(*v1alpha1.ComputeInstance))
					}
				}
				return err
			})
		},
	})
}

// start runs a new controller that knows nothing of what was before.
func (w *world) start() {
	ctx, cancel := context.WithCancel(w.Context())
	queue := workqueue.NewTypedRateLimitingQueue(
		workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](retryBase, retryMax))
	poller := NewPoller(w.fakePlatform, fakeSigner{}, clock.RealClock{}, w.timing,
		func(_ context.Context, key types.NamespacedName) { queue.Add(key) })
	reconciler := NewReconciler(Config{
		Client: w.cluster, Reader: w.cluster, Recorder: w.events,
		Region: w.fakePlatform, Identity: w.fakePlatform, Signer: fakeSigner{},
		Ledger: w.ledger, Poller: poller, Clock: clock.RealClock{}, Timing: w.timing,
	})
	watcher, err := w.cluster.Watch(ctx, &v1alpha1.ComputeInstanceList{})
	if err != nil {
		w.Fatal(err)
	}
	var list v1alpha1.ComputeInstanceList
	if err := w.cluster.List(ctx, &list); err != nil {
		w.Fatal(err)
	}
	for i := range list.Items {
		queue.Add(client.ObjectKeyFromObject(&list.Items[i]))
	}
	var running sync.WaitGroup
	running.Go(func() { _ = poller.Start(ctx) })
	running.Go(func() { enqueue(watcher, queue) })
	running.Go(func() { w.work(ctx, reconciler, queue) })
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue = queue
	w.stop = func() {
		cancel()
		queue.ShutDown()
		watcher.Stop()
		running.Wait()
	}
}

// enqueue is the watch with the controller's predicate.
func enqueue(watcher watch.Interface, queue workqueue.TypedRateLimitingInterface[types.NamespacedName]) {
	known := map[types.NamespacedName]client.Object{}
	for change := range watcher.ResultChan() {
		object := change.Object.(client.Object)
		key := client.ObjectKeyFromObject(object)
		before, ok := known[key]
		known[key] = object
		if change.Type == watch.Modified && ok && !relevant().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: object}) {
			continue
		}
		queue.Add(key)
	}
}

func (w *world) work(ctx context.Context, reconciler *Reconciler, queue workqueue.TypedRateLimitingInterface[types.NamespacedName]) {
	for {
		key, shutdown := queue.Get()
		if shutdown {
			return
		}
		result, crashed, err := survive(ctx, reconciler, key)
		queue.Done(key)
		switch {
		case crashed:
			// The others of this controller end by themselves.
			go w.restart()
			return
		case err != nil:
			queue.AddRateLimited(key)
		case result.RequeueAfter > 0:
			queue.Forget(key)
			queue.AddAfter(key, result.RequeueAfter)
		default:
			queue.Forget(key)
		}
	}
}

func survive(ctx context.Context, reconciler *Reconciler, key types.NamespacedName) (result reconcile.Result, crashed bool, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			if _, ok := problem.(crash); !ok {
				panic(problem)
			}
			crashed = true
		}
	}()
	result, err = reconciler.Reconcile(ctx, reconcile.Request{NamespacedName: key})
	return result, false, err
}

// restart stops the controller and starts another.
func (w *world) restart() {
	w.mu.Lock()
	stop := w.stop
	w.mu.Unlock()
	stop()
	w.start()
}

// eventually waits in the bubble's time for a condition.
func (w *world) eventually(what string, within time.Duration, condition func() bool) {
	w.Helper()
	deadline := time.Now().Add(within)
	for !condition() {
		if time.Now().After(deadline) {
			w.Fatalf("after %s: not %s\nobjects: %s\n%s", within, what, w.describe(), w.holding())
		}
		<-time.After(250 * time.Millisecond)
	}
}

// after lets time pass.
func (*world) after(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// apply stores an object, charged for as the API server does.
func (w *world) apply(object *v1alpha1.ComputeInstance) {
	w.Helper()
	public := object.Spec.Networking != nil && object.Spec.Networking.PublicIP
	id := w.charge(ids.InstanceID(object.Name), quota.CostOf(w.gpus(object.Spec.FlavorID), public))
	object.Annotations[v1alpha1.AnnotationAllocationID] = string(id)
	w.store(object)
}

func (w *world) store(object *v1alpha1.ComputeInstance) {
	w.Helper()
	object.CreationTimestamp = metav1.NewTime(time.Now().Truncate(time.Second))
	if err := w.cluster.Create(w.Context(), object); err != nil {
		w.Fatal(err)
	}
}

// edit changes the spec.
func (w *world) edit(change func(*v1alpha1.ComputeInstance)) {
	w.Helper()
	object := w.get()
	change(object)
	object.Generation++
	if err := w.cluster.Update(w.Context(), object); err != nil {
		w.Fatal(err)
	}
}

// get reads web-1, which must be there.
func (w *world) get() *v1alpha1.ComputeInstance {
	w.Helper()
	object := &v1alpha1.ComputeInstance{}
	if err := w.cluster.Get(w.Context(), types.NamespacedName{Namespace: "alpha", Name: web1}, object); err != nil {
		w.Fatal(err)
	}
	return object
}

func (w *world) remove() {
	w.Helper()
	if err := w.cluster.Delete(w.Context(), w.get()); err != nil {
		w.Fatal(err)
	}
}

func (w *world) gone() bool {
	var list v1alpha1.ComputeInstanceList
	return w.cluster.List(w.Context(), &list) == nil && len(list.Items) == 0
}

// reason is the reason of Available, if the object is there.
func (w *world) reason() string {
	object := &v1alpha1.ComputeInstance{}
	if w.cluster.Get(w.Context(), types.NamespacedName{Namespace: "alpha", Name: web1}, object) != nil {
		return ""
	}
	return reasonOf(object)
}

// running says whether the machine of the current generation runs.
func (w *world) running() bool {
	object := w.get()
	active := meta.FindStatusCondition(object.Status.Conditions, v1alpha1.ConditionActive)
	return inPlace(object) && active != nil && active.Status == metav1.ConditionTrue
}

func (w *world) describe() string {
	var list v1alpha1.ComputeInstanceList
	if err := w.cluster.List(w.Context(), &list); err != nil {
		return err.Error()
	}
	text := ""
	for _, item := range list.Items {
		text += fmt.Sprintf("%s/%s generation %d", item.Namespace, item.Name, item.Generation)
		for _, condition := range item.Status.Conditions {
			text += fmt.Sprintf(" %s=%s/%s@%d(%s)", condition.Type, condition.Status, condition.Reason, condition.ObservedGeneration, condition.Message)
		}
	}
	return text
}

// recorder keeps events.
type recorder struct {
	mu     sync.Mutex
	events []string
}

func (r *recorder) Eventf(_, _ runtime.Object, kind, reason, _, note string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, fmt.Sprintf("%s %s %s", kind, reason, fmt.Sprintf(note, args...)))
}

func (r *recorder) count(reason string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	count := 0
	for _, text := range r.events {
		var kind, found string
		if _, err := fmt.Sscan(text, &kind, &found); err == nil && found == reason {
			count++
		}
	}
	return count
}
