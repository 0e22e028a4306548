// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/ptr"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/computetest"
	"github.com/unikorn-cloud/instance-apiserver/pkg/consolelog"
	"github.com/unikorn-cloud/instance-apiserver/pkg/tenancy"
)

// open opens the log as the server does for a request.
func open(ctx context.Context, b *booth, options *compute.InstanceLogOptions) (io.ReadCloser, bool, error) {
	found, err := b.Log.Get(ctx, computetest.Name, options)
	if err != nil {
		return nil, false, err
	}
	stream, flush, mime, err := found.(rest.ResourceStreamer).InputStream(ctx, "", "")
	if err == nil && mime != "text/plain" {
		err = errors.New("type is " + mime)
	}
	return stream, flush, err
}

func TestLog(t *testing.T) {
	for _, test := range []struct {
		lines  *int64
		length *int
		want   string
	}{
		{nil, nil, "one\ntwo\nthree\n"},
		{ptr.To[int64](2), ptr.To(2), "two\nthree\n"},
		{ptr.To[int64](0), ptr.To(0), ""},
		{ptr.To[int64](1 << 40), ptr.To(1<<31 - 1), "one\ntwo\nthree\n"},
	} {
		b := newBooth(t)
		stream, flush, err := open(b.request(t, "log"), b, &compute.InstanceLogOptions{TailLines: test.lines})
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(stream)
		if err != nil || string(text) != test.want || flush {
			t.Errorf("text %q, flush %v, %v, want %q", text, flush, err, test.want)
		}
		if diff := cmp.Diff([]*int{test.length}, b.hall.lengths); diff != "" {
			t.Errorf("length (-want +got):\n%s", diff)
		}
		expectCalls(t, b, "ConsoleOutput")
	}
}

func TestNegativeTailLines(t *testing.T) {
	b := newBooth(t)
	_, _, err := open(b.request(t, "log"), b, &compute.InstanceLogOptions{TailLines: ptr.To[int64](-1)})
	expectReason(t, err, metav1.StatusReasonInvalid)
	expectCalls(t, b)
}

func TestRefusedLog(t *testing.T) {
	for _, follow := range []bool{false, true} {
		for answer, reason := range map[error]metav1.StatusReason{
			said(http.StatusBadRequest): metav1.StatusReasonConflict,
			said(http.StatusNotFound):   metav1.StatusReasonConflict,
			errDown:                     metav1.StatusReasonServiceUnavailable,
		} {
			b := newBooth(t)
			b.hall.failures["ConsoleOutput"] = answer
			_, _, err := open(b.request(t, "log"), b, &compute.InstanceLogOptions{Follow: follow})
			expectReason(t, err, reason)
			if reason == metav1.StatusReasonConflict && !strings.Contains(err.Error(), "while the machine is Running") {
				t.Errorf("%q does not have the state", err)
			}
		}
	}
}

// quick follows faster than anybody should in earnest.
func quick(b *booth, limits consolelog.Limits) {
	b.Log.Destroy()
	limits.Interval, limits.Longest = time.Millisecond, time.Hour
	b.Log = newLogREST(b.Log.requests, b.hall, limits)
}

func (h *hall) setFailure(method string, err error) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.failures[method] = err
}

func (h *hall) setOutput(output string) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.output = output
}

// awaitCalls returns when there were that many more calls.
func (h *hall) awaitCalls(t *testing.T, more int) {
	t.Helper()
	count := func() int {
		h.mutex.Lock()
		defer h.mutex.Unlock()
		return len(h.calls)
	}
	enough := count() + more
	err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return count() >= enough, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A refusal and a failure on the way do not end it.
func TestFollowedLog(t *testing.T) {
	b := newBooth(t)
	quick(b, consolelog.Limits{PerConsole: 1, PerUser: 1, PerTenant: 1, Total: 1})
	t.Cleanup(b.Log.Destroy)
	stream, flush, err := open(b.request(t, "log"), b, &compute.InstanceLogOptions{Follow: true, TailLines: ptr.To[int64](1)})
	if err != nil {
		t.Fatal(err)
	}
	if !flush {
		t.Error("lines would wait for others")
	}
	lines := bufio.NewScanner(stream)
	next := func() string {
		if !lines.Scan() {
			t.Fatalf("the stream ended: %v", lines.Err())
		}
		return lines.Text()
	}
	if got := next(); got != "three" {
		t.Errorf("%q, want three", got)
	}
	b.hall.setFailure("ConsoleOutput", said(http.StatusBadRequest))
	b.hall.awaitCalls(t, 2)
	b.hall.setOutput("two\nthree\nfour\n")
	b.hall.setFailure("ConsoleOutput", nil)
	if got := next(); got != "four" {
		t.Errorf("%q, want four", got)
	}

	_, _, err = open(b.request(t, "log"), b, &compute.InstanceLogOptions{Follow: true})
	expectReason(t, err, metav1.StatusReasonTooManyRequests)

	b.Log.EndFollowing()
	if lines.Scan() {
		t.Errorf("%q after the end", lines.Text())
	}
	_, _, err = open(b.request(t, "log"), b, &compute.InstanceLogOptions{Follow: true})
	expectReason(t, err, metav1.StatusReasonServiceUnavailable)
	if len(b.hall.wrongly) > 0 {
		t.Errorf("made with the wrong rights: %v", b.hall.wrongly)
	}
}

func TestLogEndsWithTheMachine(t *testing.T) {
	b := newBooth(t)
	quick(b, consolelog.Limits{PerConsole: 1, PerUser: 1, PerTenant: 1, Total: 1})
	t.Cleanup(b.Log.Destroy)
	stream, _, err := open(b.request(t, "log"), b, &compute.InstanceLogOptions{Follow: true})
	if err != nil {
		t.Fatal(err)
	}
	b.hall.setFailure("ConsoleOutput", said(http.StatusNotFound))
	text, err := io.ReadAll(stream)
	if err != nil || string(text) != "one\ntwo\nthree\n" {
		t.Errorf("text %q, %v", text, err)
	}
}

// register is where an instance is looked up while its log is followed.
type register struct {
	mutex    sync.Mutex
	instance *compute.Instance
	owner    tenancy.Scope
	err      error
}

func registered(b *booth) *register {
	r := &register{instance: computetest.Existing(), owner: home}
	b.Log.requests.instances, b.Log.requests.checks.Tenancy = r, r
	return r
}

func (r *register) set(edit func(*register)) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	edit(r)
}

func (r *register) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.err != nil {
		return nil, r.err
	}
	if r.instance == nil || name != r.instance.Name || genericapirequest.NamespaceValue(ctx) != r.instance.Namespace {
		return nil, apierrors.NewNotFound(compute.Resource("instances"), name)
	}
	return r.instance.DeepCopy(), nil
}

func (r *register) Scope(context.Context, string) (tenancy.Scope, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.owner, nil
}

// However region answers meanwhile, who follows an instance does not see the
// machine of another.
func TestLogEndsWithTheInstance(t *testing.T) {
	for name, ended := range map[string]func(*register){
		"deleted":   func(r *register) { r.instance = nil },
		"recreated": func(r *register) { r.instance.UID = "another" },
		"rebound":   func(r *register) { r.owner.Project = "0a000000-0000-4000-8000-0000000000af" },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBooth(t)
			quick(b, consolelog.Limits{PerConsole: 1, PerUser: 1, PerTenant: 1, Total: 1})
			t.Cleanup(b.Log.Destroy)
			listed := registered(b)
			stream, _, err := open(b.request(t, "log"), b, &compute.InstanceLogOptions{Follow: true})
			if err != nil {
				t.Fatal(err)
			}
			b.hall.setFailure("ConsoleOutput", errDown)
			b.hall.awaitCalls(t, 2)
			listed.set(ended)
			b.hall.setOutput("one\ntwo\nthree\nanother machine\n")
			b.hall.setFailure("ConsoleOutput", nil)
			text, err := io.ReadAll(stream)
			if err != nil || string(text) != "one\ntwo\nthree\n" {
				t.Errorf("text %q, %v", text, err)
			}
		})
	}
}

// Where it cannot be told whether the instance is there, the log waits.
func TestLogOutlivesTheCluster(t *testing.T) {
	b := newBooth(t)
	quick(b, consolelog.Limits{PerConsole: 1, PerUser: 1, PerTenant: 1, Total: 1})
	t.Cleanup(b.Log.Destroy)
	listed := registered(b)
	stream, _, err := open(b.request(t, "log"), b, &compute.InstanceLogOptions{Follow: true, TailLines: ptr.To[int64](0)})
	if err != nil {
		t.Fatal(err)
	}
	listed.set(func(r *register) { r.err = apierrors.NewServiceUnavailable("down") })
	b.hall.setOutput("one\ntwo\nthree\nfour\n")
	b.hall.awaitCalls(t, 2)
	listed.set(func(r *register) { r.err = nil })
	lines := bufio.NewScanner(stream)
	if !lines.Scan() || lines.Text() != "four" {
		t.Errorf("%q, want four: %v", lines.Text(), lines.Err())
	}
}

// Instances of the same name in turn have logs of their own.
func TestLogsAreToldApartByUID(t *testing.T) {
	b := newBooth(t)
	quick(b, consolelog.Limits{PerConsole: 1, PerUser: 9, PerTenant: 9, Total: 9})
	t.Cleanup(b.Log.Destroy)
	listed := registered(b)
	for _, uid := range []types.UID{"first", "second"} {
		listed.set(func(r *register) { r.instance.UID = uid })
		if _, _, err := open(b.request(t, "log"), b, &compute.InstanceLogOptions{Follow: true}); err != nil {
			t.Errorf("%s: %v", uid, err)
		}
	}
}

func TestFollowLimits(t *testing.T) {
	l := followLimits
	if l.PerUser >= l.PerConsole || l.PerConsole > l.PerTenant || l.PerTenant >= l.Total {
		t.Errorf("one can have what is for several: %+v", l)
	}
}

func TestLogIsText(t *testing.T) {
	b := newBooth(t)
	if diff := cmp.Diff([]string{"text/plain"}, b.Log.ProducesMIMETypes("GET")); diff != "" {
		t.Errorf("types (-want +got):\n%s", diff)
	}
	if _, ok := b.Log.ProducesObject("GET").(string); !ok {
		t.Error("described as an object")
	}
}
