// SPDX-License-Identifier: Apache-2.0

package userdata

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"strings"
)

var (
	errNotMultipart = errors.New("its content type is not multipart")
	errNoBoundary   = errors.New("its content type has no boundary")
)

// isMultipart tells whether raw looks like a multipart message: by its first
// line, or by its header when all of it reads as a mail.
func isMultipart(raw []byte) bool {
	if strings.HasPrefix(strings.ToLower(firstLine(raw)), "content-type: multipart/") {
		return true
	}
	message, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return false
	}
	mediaType, _, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	return err == nil && strings.HasPrefix(mediaType, "multipart/")
}

// checkMultipart reads a multipart message to its end. What is in the parts,
// or nested in them, does not matter.
func checkMultipart(raw []byte) error {
	message, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("header: %w", err)
	}
	mediaType, parameters, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	switch {
	case err != nil:
		return fmt.Errorf("content type: %w", err)
	case !strings.HasPrefix(mediaType, "multipart/"):
		return errNotMultipart
	case parameters["boundary"] == "":
		return errNoBoundary
	}
	parts := multipart.NewReader(message.Body, parameters["boundary"])
	for {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("part: %w", err)
		}
		if _, err := io.Copy(io.Discard, part); err != nil {
			return fmt.Errorf("body of a part: %w", err)
		}
	}
}
