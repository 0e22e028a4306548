// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"
)

const (
	// maxBody is where bodies become too large.
	maxBody = 2_000_000
	// bodyTime is how long a body may take to arrive.
	bodyTime = time.Second
)

// BufferBody reads the body of every request before passing it on. A body that
// is too large or too slow becomes an error of whoever reads it, because who
// calls, and with which ids, is judged first.
func BufferBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			body, err := readBody(w, r)
			r.Body = io.NopCloser(&buffered{Reader: bytes.NewReader(body), err: err})
		}
		next.ServeHTTP(w, r)
	})
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	connection := http.NewResponseController(w)
	if err := connection.SetReadDeadline(time.Now().Add(bodyTime)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	switch {
	case err != nil:
		return nil, Error(http.StatusBadRequest, "the body did not arrive")
	case len(body) == maxBody:
		return nil, Error(http.StatusInternalServerError, "")
	}
	if err := connection.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return nil, err
	}
	return body, nil
}

type buffered struct {
	io.Reader
	err error
}

func (b *buffered) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	return b.Reader.Read(p)
}

// Decode reads the body of a request, which the description was checked
// against already.
func Decode[T any](r *http.Request) (T, error) {
	var body T
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		var status *StatusError
		if errors.As(err, &status) {
			return body, status
		}
		return body, Error(http.StatusBadRequest, "the body is not what is expected here")
	}
	return body, nil
}
