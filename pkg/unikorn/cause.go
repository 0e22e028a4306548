// SPDX-License-Identifier: Apache-2.0

package unikorn

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
)

var (
	// errFiles marks errors of the TLS files, which are the operator's.
	errFiles = errors.New("TLS files")

	errNoHTTP = errors.New("no well-formed HTTP")
)

// ends are how a connection or the patience of a call can end.
var ends = []error{
	context.Canceled, context.DeadlineExceeded, os.ErrDeadlineExceeded,
	io.ErrUnexpectedEOF, io.EOF, net.ErrClosed,
}

// fixed are words of net/http that have nothing of an answer and no type.
var fixed = []string{
	"http: server closed idle connection",
	"http: server gave HTTP response to HTTPS client",
}

// plainCause reduces an error to what is known to have nothing of the answer in
// its words. net/http quotes what it does not understand, and an answer that is
// framed wrongly may have a key where a header should be.
func plainCause(err error) error {
	if err == nil || errors.Is(err, errFiles) {
		return err
	}
	var operation *net.OpError
	if errors.As(err, &operation) {
		return plainOperation(operation)
	}
	for _, end := range ends {
		if errors.Is(err, end) {
			return end
		}
	}
	if known, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return known
	}
	if known, ok := errors.AsType[*net.DNSError](err); ok {
		return known
	}
	if known, ok := errors.AsType[syscall.Errno](err); ok {
		return known
	}
	switch {
	case isTimeout(err):
		return os.ErrDeadlineExceeded
	case strings.HasPrefix(err.Error(), "tls: "), slices.Contains(fixed, err.Error()):
		return err
	}
	return errNoHTTP
}

// plainOperation keeps who was connected and reduces what happened. An alert of
// TLS is a number.
func plainOperation(operation *net.OpError) error {
	if operation.Op == opRemoteAlert {
		return operation
	}
	plain := *operation
	plain.Err = plainCause(operation.Err)
	return &plain
}

var _ io.ReadCloser = plainBody{}

// plainBody is the body of an answer whose errors are plain.
type plainBody struct {
	io.ReadCloser
}

// Read implements io.Reader.
func (b plainBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	return n, plainCause(err)
}
