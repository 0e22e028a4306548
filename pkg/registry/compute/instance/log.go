// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/consolelog"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

var (
	_ rest.GetterWithOptions = &LogREST{}
	_ rest.StorageMetadata   = &LogREST{}
	_ rest.ResourceStreamer  = &textStream{}
	_ runtime.Object         = &textStream{}
)

const logMIMEType = "text/plain"

// consoleReader reads what machines write to their consoles: the last lines, or
// with nil all that is kept. A refusal with 400 means the wrong state.
type consoleReader interface {
	ConsoleOutput(ctx context.Context, credential principal.Credential, id ids.ServerID, lines *int) (*region.ConsoleOutput, error)
}

// LogREST serves instances/log. It has the name of the logs of pods, because
// the cluster's API server lets only a few names stream for more than a minute.
type LogREST struct {
	requests  *requests
	consoles  consoleReader
	followers *consolelog.Followers
}

func newLogREST(requests *requests, consoles consoleReader, limits consolelog.Limits) *LogREST {
	return &LogREST{requests: requests, consoles: consoles, followers: consolelog.New(limits, passing)}
}

// passing says of what errors the log of a machine may recover: region or the
// cluster is down for a moment, or the machine is being made anew.
func passing(err error) bool {
	var unconfirmed *unconfirmedError
	return unikorn.IsUnavailable(err) || unikorn.IsBadRequest(err) || errors.As(err, &unconfirmed)
}

// New implements rest.Storage.
func (*LogREST) New() runtime.Object { return &compute.Instance{} }

// Destroy implements rest.Storage.
func (r *LogREST) Destroy() { r.followers.Close() }

// EndFollowing ends all streams, for a server that is about to stop and would
// wait for them.
func (r *LogREST) EndFollowing() { r.followers.Close() }

// ProducesMIMETypes implements rest.StorageMetadata.
func (*LogREST) ProducesMIMETypes(string) []string { return []string{logMIMEType} }

// ProducesObject implements rest.StorageMetadata.
func (*LogREST) ProducesObject(string) any { return "" }

// NewGetOptions implements rest.GetterWithOptions.
func (*LogREST) NewGetOptions() (options runtime.Object, subpath bool, subpathKey string) {
	return &compute.InstanceLogOptions{}, false, ""
}

// Get implements rest.GetterWithOptions.
func (r *LogREST) Get(ctx context.Context, name string, options runtime.Object) (runtime.Object, error) {
	wanted := options.(*compute.InstanceLogOptions)
	if err := r.requests.validate(ctx, name, wanted, nil); err != nil {
		return nil, err
	}
	found, err := r.requests.toRead(ctx, name)
	if err != nil {
		return nil, err
	}
	if wanted.Follow {
		return &textStream{flush: true, open: func(ctx context.Context) (io.ReadCloser, error) {
			return r.follow(ctx, found, wanted.TailLines)
		}}, nil
	}
	return &textStream{open: func(ctx context.Context) (io.ReadCloser, error) {
		return r.read(ctx, found, wanted.TailLines)
	}}, nil
}

func (r *LogREST) read(ctx context.Context, of *machine, lines *int64) (io.ReadCloser, error) {
	var length *int
	if lines != nil {
		atMost := int(min(*lines, math.MaxInt32))
		length = &atMost
	}
	output, err := r.consoles.ConsoleOutput(ctx, of.credential, of.server.ID(), length)
	if err != nil {
		return nil, r.refusal(ctx, of, err)
	}
	text := output.Contents
	if lines != nil {
		// What length means is the provider's affair.
		text = consolelog.Tail(text, *lines)
	}
	return io.NopCloser(strings.NewReader(text)), nil
}

func (r *LogREST) follow(ctx context.Context, of *machine, lines *int64) (io.ReadCloser, error) {
	stream, err := r.followers.Follow(ctx, consolelog.Request{
		// What else identifies an instance is the same for the next one of its
		// name.
		Console: string(of.instance.UID),
		User:    subjectOf(ctx),
		Tenant:  string(of.instance.Spec.OrganizationID),
		Lines:   lines,
		Read:    func(ctx context.Context) (string, error) { return r.readOn(ctx, of) },
	})
	if err != nil {
		return nil, r.refusal(ctx, of, err)
	}
	return stream, nil
}

// readOn reads the console for those who follow it, on behalf of no request.
func (r *LogREST) readOn(ctx context.Context, of *machine) (string, error) {
	output, err := r.consoles.ConsoleOutput(ctx, of.credential, of.server.ID(), nil)
	// After the read, because an instance that is there now was there then.
	if gone := r.confirm(ctx, of.instance); gone != nil {
		return "", gone
	}
	if err != nil {
		return "", err
	}
	return output.Contents, nil
}

// confirmTimeout is how long the cluster may take to confirm an instance.
const confirmTimeout = 10 * time.Second

// confirm says whether the instance is still the one it was, and its
// namespace's.
func (r *LogREST) confirm(ctx context.Context, instance *compute.Instance) error {
	ctx, cancel := context.WithTimeout(genericapirequest.WithNamespace(ctx, instance.Namespace), confirmTimeout)
	defer cancel()
	found, err := r.requests.instances.Get(ctx, instance.Name, &metav1.GetOptions{})
	if err == nil && found.(*compute.Instance).UID != instance.UID {
		err = apierrors.NewNotFound(compute.Resource("instances"), instance.Name)
	}
	if err == nil {
		err = r.requests.checks.confirmScope(ctx, scopeOf(instance), instance.Namespace, instance.Name)
	}
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return err
	}
	return &unconfirmedError{err}
}

// unconfirmedError says that it is not known whether an instance is still there.
type unconfirmedError struct {
	reason error
}

func (e *unconfirmedError) Error() string { return e.reason.Error() }

func (e *unconfirmedError) Unwrap() error { return e.reason }

func (r *LogREST) refusal(ctx context.Context, of *machine, err error) error {
	var unconfirmed *unconfirmedError
	switch {
	case errors.As(err, &unconfirmed):
		return unconfirmed.reason
	case errors.Is(err, consolelog.ErrTooMany):
		return apierrors.NewTooManyRequests(fmt.Sprintf("the log of instance %q cannot be followed: %v", of.instance.Name, err), 10)
	case errors.Is(err, consolelog.ErrClosed):
		return apierrors.NewServiceUnavailable(err.Error())
	default:
		return r.requests.refusal(ctx, of, "reading the console", err)
	}
}

// textStream is an answer that is text and not an object.
type textStream struct {
	open func(ctx context.Context) (io.ReadCloser, error)
	// flush has each piece sent at once.
	flush bool
}

// InputStream implements rest.ResourceStreamer.
func (s *textStream) InputStream(ctx context.Context, _, _ string) (stream io.ReadCloser, flush bool, mimeType string, err error) {
	stream, err = s.open(ctx)
	return stream, s.flush, logMIMEType, err
}

// GetObjectKind implements runtime.Object. Text has no kind.
func (*textStream) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject implements runtime.Object. A stream is never changed.
func (s *textStream) DeepCopyObject() runtime.Object { return s }
