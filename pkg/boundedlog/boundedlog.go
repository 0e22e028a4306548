// SPDX-License-Identifier: Apache-2.0

// Package boundedlog bounds what is logged in a context, however verbose the
// program is told to be. Clients of Kubernetes log the bodies of what they send
// and receive from some verbosity on, and bodies have what belongs into no log:
// the user data of instances, tokens that are reviewed.
package boundedlog

import (
	"context"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// bodies is the verbosity from which k8s.io/client-go logs bodies.
const bodies = 8

// WithoutBodies returns a context whose logger logs nothing of the verbosity of
// bodies and above. The rest goes where it went.
func WithoutBodies(ctx context.Context) context.Context {
	logger := klog.FromContext(ctx)
	if _, bounded := logger.GetSink().(sink); bounded || logger.GetSink() == nil {
		return ctx
	}
	return klog.NewContext(ctx, logger.WithSink(sink{logger.GetSink()}))
}

var (
	_ logr.LogSink          = sink{}
	_ logr.CallDepthLogSink = sink{}
)

type sink struct {
	logr.LogSink
}

// Enabled implements logr.LogSink.
func (s sink) Enabled(level int) bool {
	return level < bodies && s.LogSink.Enabled(level)
}

// WithValues implements logr.LogSink.
func (s sink) WithValues(keysAndValues ...any) logr.LogSink {
	return sink{s.LogSink.WithValues(keysAndValues...)}
}

// WithName implements logr.LogSink.
func (s sink) WithName(name string) logr.LogSink {
	return sink{s.LogSink.WithName(name)}
}

// WithCallDepth implements logr.CallDepthLogSink.
func (s sink) WithCallDepth(depth int) logr.LogSink {
	if inner, ok := s.LogSink.(logr.CallDepthLogSink); ok {
		return sink{inner.WithCallDepth(depth)}
	}
	return s
}
