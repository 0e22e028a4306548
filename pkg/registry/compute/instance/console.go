// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/util/dryrun"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/validation"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
)

var _ rest.NamedCreater = &ConsoleREST{}

// consoles opens console sessions. A refusal with 400 means the wrong state.
type consoles interface {
	CreateConsoleSession(ctx context.Context, credential principal.Credential, id ids.ServerID) (*region.ConsoleSession, error)
}

// ConsoleREST serves instances/console. It is created and not got: a session
// lets whoever has its URL into the machine, which is more than reading.
type ConsoleREST struct {
	requests *requests
	consoles consoles
}

// New implements rest.Storage.
func (*ConsoleREST) New() runtime.Object { return &compute.InstanceConsole{} }

// Destroy implements rest.Storage.
func (*ConsoleREST) Destroy() {}

// Create implements rest.NamedCreater.
func (r *ConsoleREST) Create(ctx context.Context, name string, obj runtime.Object, admit rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	request := obj.(*compute.InstanceConsole)
	found, err := r.requests.begin(ctx, name, request, validation.ValidateAboutInstance(&request.ObjectMeta, name), admit)
	if err != nil {
		return nil, err
	}
	answer := &compute.InstanceConsole{ObjectMeta: metadataOf(found.instance)}
	if dryrun.IsDryRun(options.DryRun) {
		return answer, nil
	}
	session, err := r.consoles.CreateConsoleSession(ctx, found.credential, found.server.ID())
	if err != nil {
		return nil, r.requests.refusal(ctx, found, "a console session", err, region.PowerRunning)
	}
	answer.Status.URL = session.URL
	return answer, nil
}
