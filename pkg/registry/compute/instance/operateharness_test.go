// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/computetest"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

const serverID = "5e000000-0000-4000-8000-000000000001"

// said is an answer of region that refuses, in its own words.
func said(status int) error {
	failed := &unikorn.Error{Service: unikorn.RegionService, Operation: "Operate", Kind: unikorn.Refused, StatusCode: status}
	switch status {
	case http.StatusBadRequest:
		failed.Code = unikorn.InvalidRequest
	case http.StatusNotFound:
		failed.Code = unikorn.NotFound
	case http.StatusInternalServerError:
		failed.Kind, failed.Code = unikorn.Unavailable, unikorn.ServerError
	}
	return failed
}

var _ Machines = &hall{}

// hall is region's machines as this service sees them.
type hall struct {
	// shown are the servers in each list in turn; the last list stays.
	shown [][]region.Server
	// network is what the caller sees of the network.
	network    *region.Network
	networkErr error
	// failures are the answers to calls about a server, by method.
	failures map[string]error
	output   string
	// called, if there is one, is called after a call about a server.
	called func()

	mutex sync.Mutex
	// selectors are those of the lists, calls the other calls about a server.
	selectors []region.ServerSelector
	calls     []string
	lengths   []*int
	snapshots []region.SnapshotCreate
	wrongly   []string
}

func newHall() *hall {
	return &hall{
		shown:    [][]region.Server{{server(region.PowerRunning)}},
		network:  network(home, computetest.Network),
		failures: map[string]error{},
		output:   "one\ntwo\nthree\n",
	}
}

func server(power region.PowerState) region.Server {
	found := region.Server{Metadata: unikorn.ProjectScopedReadMetadata{ID: serverID}}
	found.Status.PowerState = power
	return found
}

// shows are lists of one server each.
func shows(states ...region.PowerState) [][]region.Server {
	var lists [][]region.Server
	for _, state := range states {
		lists = append(lists, []region.Server{server(state)})
	}
	return lists
}

// note checks with whose rights a call is made.
func (h *hall) note(ctx context.Context, credential principal.Credential, method string, impersonated bool) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://region.example", http.NoBody)
	if err != nil {
		return err
	}
	if err := credential(ctx, request); err != nil {
		return err
	}
	if (request.Header.Get("X-Impersonate") == "true") != impersonated {
		h.wrongly = append(h.wrongly, method)
	}
	return nil
}

func (h *hall) Network(ctx context.Context, credential principal.Credential, id ids.NetworkID) (*region.Network, error) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if err := h.note(ctx, credential, "Network", true); err != nil {
		return nil, err
	}
	if id != computetest.Network {
		return nil, errors.New("another network")
	}
	return h.network, h.networkErr
}

func (h *hall) Servers(ctx context.Context, credential principal.Credential, selector region.ServerSelector) ([]region.Server, error) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if err := h.note(ctx, credential, "Servers", false); err != nil {
		return nil, err
	}
	h.selectors = append(h.selectors, selector)
	if err := h.failures["Servers"]; err != nil {
		return nil, err
	}
	found := h.shown[0]
	if len(h.shown) > 1 {
		h.shown = h.shown[1:]
	}
	return found, nil
}

func (h *hall) call(ctx context.Context, credential principal.Credential, id ids.ServerID, method string) error {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if err := h.note(ctx, credential, method, false); err != nil {
		return err
	}
	if id != serverID {
		return errors.New("another server")
	}
	h.calls = append(h.calls, method)
	if h.called != nil {
		h.called()
	}
	return h.failures[method]
}

func (h *hall) StartServer(ctx context.Context, credential principal.Credential, id ids.ServerID) error {
	return h.call(ctx, credential, id, "StartServer")
}

func (h *hall) StopServer(ctx context.Context, credential principal.Credential, id ids.ServerID) error {
	return h.call(ctx, credential, id, "StopServer")
}

func (h *hall) SoftRebootServer(ctx context.Context, credential principal.Credential, id ids.ServerID) error {
	return h.call(ctx, credential, id, "SoftRebootServer")
}

func (h *hall) HardRebootServer(ctx context.Context, credential principal.Credential, id ids.ServerID) error {
	return h.call(ctx, credential, id, "HardRebootServer")
}

func (h *hall) CreateConsoleSession(ctx context.Context, credential principal.Credential, id ids.ServerID) (*region.ConsoleSession, error) {
	return &region.ConsoleSession{URL: "https://console.example/secret"}, h.call(ctx, credential, id, "CreateConsoleSession")
}

func (h *hall) ConsoleOutput(ctx context.Context, credential principal.Credential, id ids.ServerID, lines *int) (*region.ConsoleOutput, error) {
	err := h.call(ctx, credential, id, "ConsoleOutput")
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.lengths = append(h.lengths, lines)
	return &region.ConsoleOutput{Contents: h.output}, err
}

func (h *hall) CreateSnapshot(ctx context.Context, credential principal.Credential, id ids.ServerID, snapshot region.SnapshotCreate) (*region.Image, error) {
	h.snapshots = append(h.snapshots, snapshot)
	made := &region.Image{Metadata: unikorn.StaticReadMetadata{ID: string(computetest.Image), CreationTime: computetest.Created.Time}}
	made.Status.State = region.ImagePending
	return made, h.call(ctx, credential, id, "CreateSnapshot")
}

func (h *hall) SSHKey(ctx context.Context, credential principal.Credential, id ids.ServerID) (*region.SSHKey, error) {
	return &region.SSHKey{PrivateKey: "secret"}, h.call(ctx, credential, id, "SSHKey")
}

var _ Notes = &board{}

// board holds the notes that are left on stored instances.
type board struct {
	notes []pinned
	// err is the answer to each.
	err error
}

type pinned struct {
	namespace, name string
	annotations     map[string]string
	// ended says that the request was over, timed that the note had a deadline.
	ended, timed bool
}

func (b *board) Annotate(ctx context.Context, namespace, name string, annotations map[string]string) error {
	_, timed := ctx.Deadline()
	b.notes = append(b.notes, pinned{namespace, name, annotations, ctx.Err() != nil, timed})
	return b.err
}

// booth is the subresources with everything around them replaced.
type booth struct {
	*Subresources

	desk  *desk
	hall  *hall
	board *board
	// admitted are the requests that admission saw; refuses is its answer.
	admitted []runtime.Object
	refuses  error
}

func newBooth(t *testing.T, edits ...func(*compute.Instance)) *booth {
	t.Helper()
	b := &booth{desk: newDesk(t, computetest.Existing(edits...)), hall: newHall(), board: &board{}}
	b.Subresources = NewSubresources(b.desk.REST, newScheme(), Checks{
		Tenancy: b.desk,
		Callers: principal.Resolver{UsernamePrefix: "oidc:"},
	}, b.board, b.hall)
	t.Cleanup(b.Log.Destroy)
	// Reads of the hall are behind by the number of lists and not by time.
	b.Power.requests.lag = wait.Backoff{Duration: time.Millisecond, Factor: 2, Steps: 4}
	return b
}

func (b *booth) admit(_ context.Context, obj runtime.Object) error {
	b.admitted = append(b.admitted, obj)
	return b.refuses
}

// request is the context of a request that ada makes of a subresource.
func (b *booth) request(t *testing.T, subresource string) context.Context {
	ctx := genericapirequest.WithRequestInfo(requestBy(t, ada), &genericapirequest.RequestInfo{
		APIGroup: v1beta1.GroupName, APIVersion: v1beta1.SchemeGroupVersion.Version,
		Resource: "instances", Subresource: subresource, Name: computetest.Name,
	})
	return warning.WithWarningRecorder(ctx, b.desk)
}

// post creates a subresource and returns its answer.
func post[T runtime.Object](t *testing.T, b *booth, subresource string, request T, dryRun ...string) (T, error) {
	t.Helper()
	var none T
	storage := map[string]rest.NamedCreater{
		"power": b.Power, "console": b.Console, "snapshot": b.Snapshot, "sshkey": b.SSHKey,
	}[subresource]
	made, err := storage.Create(b.request(t, subresource), computetest.Name, request, b.admit, &metav1.CreateOptions{DryRun: dryRun})
	if err != nil {
		return none, err
	}
	return made.(T), nil
}

// everyCreate are valid requests for each subresource that can be created.
var everyCreate = map[string]runtime.Object{
	"power":    &compute.InstancePower{Spec: compute.InstancePowerSpec{Action: compute.PowerActionStop}},
	"console":  &compute.InstanceConsole{},
	"snapshot": &compute.InstanceSnapshot{ObjectMeta: metav1.ObjectMeta{Name: "Monday.1"}},
	"sshkey":   &compute.InstanceSSHKey{},
}

func expectReason(t *testing.T, err error, want metav1.StatusReason) {
	t.Helper()
	if got := apierrors.ReasonForError(err); got != want {
		t.Fatalf("reason %q, want %q: %v", got, want, err)
	}
}

func expectCalls(t *testing.T, b *booth, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, b.hall.calls); diff != "" {
		t.Errorf("calls about the server (-want +got):\n%s", diff)
	}
	if len(b.hall.wrongly) > 0 {
		t.Errorf("made with the wrong rights: %v", b.hall.wrongly)
	}
}
