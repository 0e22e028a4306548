// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
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

// passing says of what errors the log of a machine may recover: region is down
// for a moment, or the machine is being made anew.
func passing(err error) bool {
	return unikorn.IsUnavailable(err) || unikorn.IsBadRequest(err)
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
	stream, err := r.followers.Follow(ctx, string(of.instance.Status.InstanceID), lines, func(ctx context.Context) (string, error) {
		output, err := r.consoles.ConsoleOutput(ctx, of.credential, of.server.ID(), nil)
		if err != nil {
			return "", err
		}
		return output.Contents, nil
	})
	if err != nil {
		return nil, r.refusal(ctx, of, err)
	}
	return stream, nil
}

func (r *LogREST) refusal(ctx context.Context, of *machine, err error) error {
	switch {
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
