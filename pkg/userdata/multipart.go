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
	"net/textproto"
	"strings"
)

// part is one of a multipart message.
type part struct {
	header textproto.MIMEHeader
	body   []byte
}

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

// regionParts reads a multipart message to its end, as region does. What is in
// the parts, or nested in them, does not matter, with one exception that region
// makes by the way it reads: quoted-printable is decoded, and has to be
// decodable.
func regionParts(raw []byte) ([]part, error) {
	message, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("%w: its header cannot be read; it must begin with the first byte and end with an empty line", ErrMultipart)
	}
	mediaType, parameters, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: its content type cannot be read", ErrMultipart)
	case !strings.HasPrefix(mediaType, "multipart/"):
		return nil, fmt.Errorf("%w: its content type is not multipart", ErrMultipart)
	case parameters["boundary"] == "":
		return nil, fmt.Errorf("%w: its content type has no boundary", ErrMultipart)
	}
	parts, err := readParts(message.Body, parameters["boundary"], (*multipart.Reader).NextPart)
	if err != nil {
		return nil, fmt.Errorf("%w: part %d cannot be read to its end; every part, and the message, must end with the boundary",
			ErrMultipart, len(parts)+1)
	}
	return parts, nil
}

// readParts returns the parts up to the first that cannot be read, and the
// error of that one.
func readParts(body io.Reader, boundary string, next func(*multipart.Reader) (*multipart.Part, error)) ([]part, error) {
	var parts []part
	reader := multipart.NewReader(body, boundary)
	for {
		found, err := next(reader)
		if errors.Is(err, io.EOF) {
			return parts, nil
		}
		if err != nil {
			return parts, err
		}
		content, err := io.ReadAll(found)
		if err != nil {
			return parts, err
		}
		parts = append(parts, part{header: found.Header, body: content})
	}
}
