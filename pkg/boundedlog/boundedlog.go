// SPDX-License-Identifier: Apache-2.0

// Package boundedlog bounds what a program logs, however verbose it is told to
// be. Clients of Kubernetes log the bodies of what they send and receive from
// some verbosity on, and bodies have what belongs into no log: the user data of
// instances, tokens that are reviewed. Go's HTTP client logs what it receives
// without having asked, at any verbosity.
//
// The bound is on the logger of the process: not everything that is done for a
// request is done in its context. The review of its token is shared with others.
package boundedlog

import (
	"log" //nolint:depguard // others use it, and what they log is bounded here
	"log/slog"

	"github.com/go-logr/logr"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
)

// bodies is the verbosity from which k8s.io/client-go logs bodies.
const bodies = 8

// Setup has the process log as configured, within the bound. It may be called
// once, before anything logs.
func Setup(config *logsapi.LoggingConfiguration) error {
	// Without feature gates contextual logging cannot be turned off, which alone
	// lets all logging go through one logger, nor can the buffer be turned on that
	// only the logger it replaces could flush.
	if err := logsapi.ValidateAndApply(config, nil); err != nil {
		return err
	}
	bound()
	return nil
}

// bound puts the bound around the logger of the process.
func bound() {
	logger := klog.Background()
	inner := logger.GetSink()
	options := []klog.LoggerOption{klog.ContextualLogger(true)}
	if writer, ok := inner.(textlogger.KlogBufferWriter); ok {
		options = append(options, klog.WriteKlogBuffer(writer.WriteKlogBuffer))
	}
	logger = logger.WithSink(newSink(inner))
	klog.SetLoggerWithOptions(logger, options...)
	// This makes it the output of package log as well, which has its own bound.
	slog.SetDefault(slog.New(logr.ToSlogHandler(logger)))
	log.SetFlags(0)
	log.SetOutput(standard{logger.WithCallDepth(standardDepth)})
}

var (
	_ logr.LogSink          = sink{}
	_ logr.CallDepthLogSink = sink{}
)

type sink struct {
	logr.LogSink
	// asked is the same one call further away. It is who is asked what is enabled:
	// that can depend on the file of the caller.
	asked logr.LogSink
}

func newSink(inner logr.LogSink) sink {
	deep, ok := inner.(logr.CallDepthLogSink)
	if !ok {
		return sink{inner, inner}
	}
	return sink{inner, deep.WithCallDepth(1)}
}

// Enabled implements logr.LogSink.
func (s sink) Enabled(level int) bool {
	return level < bodies && s.asked.Enabled(level)
}

// WithValues implements logr.LogSink.
func (s sink) WithValues(keysAndValues ...any) logr.LogSink {
	return newSink(s.LogSink.WithValues(keysAndValues...))
}

// WithName implements logr.LogSink.
func (s sink) WithName(name string) logr.LogSink {
	return newSink(s.LogSink.WithName(name))
}

// WithCallDepth implements logr.CallDepthLogSink.
func (s sink) WithCallDepth(depth int) logr.LogSink {
	if inner, ok := s.LogSink.(logr.CallDepthLogSink); ok {
		return newSink(inner.WithCallDepth(depth))
	}
	return s
}
