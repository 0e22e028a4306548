// SPDX-License-Identifier: Apache-2.0

package userdata

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	// versionWithin is where cloud-init looks for the MIME version, in bytes.
	versionWithin = 4096
	// maxDepth is how deeply messages in messages are looked into.
	maxDepth = 8
)

// defaultType is what text is that says nothing else of itself.
const defaultType = "text/plain"

// payload goes through what is no part of a message: it may be one.
func (i *inspection) payload(subject string, raw []byte) {
	head := bytes.ToLower(raw[:min(len(raw), versionWithin)])
	switch {
	case bytes.Contains(head, []byte("mime-version:")):
		i.message(subject, raw)
	case isMultipart(raw):
		i.warn(subject, fmt.Sprintf("is ignored by cloud-init, all of it: "+
			"a multipart message needs a MIME-Version header within the first %d bytes", versionWithin))
	default:
		i.content(subject, defaultType, raw)
	}
}

// message goes through what cloud-init reads as a mail. What does not begin as
// one is body only.
func (i *inspection) message(subject string, raw []byte) {
	if !utf8.Valid(raw) {
		i.warn(subject, "is ignored by cloud-init, all of it: it is not UTF-8, and cannot be read as a message")
		return
	}
	message, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		i.content(subject, defaultType, raw)
		return
	}
	body, err := io.ReadAll(message.Body)
	if err != nil {
		i.warn(subject, "cannot be read to its end")
		return
	}
	i.entity(subject, "", part{header: textproto.MIMEHeader(message.Header), body: body})
}

// entity goes through a part, or a message as a whole. The position of a part
// is its number, after those of the parts that it is in; a message has none.
func (i *inspection) entity(subject, position string, entity part) {
	mediaType := mediaTypeOf(entity.header)
	if strings.HasPrefix(mediaType, "multipart/") {
		i.container(subject, position, entity)
		return
	}
	encoding := strings.ToLower(strings.TrimSpace(entity.header.Get("Content-Transfer-Encoding")))
	body, ok := decode(encoding, entity.body)
	if !ok {
		i.warn(subject, "is garbled in the guest: it is not the "+encoding+" that it says it is")
		return
	}
	i.content(subject, mediaType, body)
}

func (i *inspection) container(subject, position string, entity part) {
	if strings.Count(position, ".") == maxDepth-1 {
		i.unexamined(subject, "it is nested too deeply")
		return
	}
	_, parameters, err := mime.ParseMediaType(entity.header.Get("Content-Type"))
	if err != nil || parameters["boundary"] == "" {
		i.warn(subject, "is ignored by cloud-init: it is a multipart message without a boundary")
		return
	}
	parts, err := readParts(bytes.NewReader(entity.body), parameters["boundary"], (*multipart.Reader).NextRawPart)
	if err != nil {
		i.warn(subject, fmt.Sprintf("is a damaged multipart message: cloud-init may lose it from its part %d on", len(parts)+1))
	} else if len(parts) == 0 {
		i.warn(subject, "has no effect: the multipart message has no parts, or its boundary never occurs")
	}
	for n, each := range parts {
		if i.full() {
			return
		}
		at := strings.TrimPrefix(fmt.Sprintf("%s.%d", position, n+1), ".")
		i.entity("part "+at, at, each)
	}
}

// mediaTypeOf is forgiving as cloud-init is: parameters do not matter, and what
// cannot be a type is text.
func mediaTypeOf(header textproto.MIMEHeader) string {
	value, _, _ := strings.Cut(header.Get("Content-Type"), ";")
	value = strings.ToLower(strings.TrimSpace(value))
	if strings.Count(value, "/") != 1 {
		return defaultType
	}
	return value
}

// decode undoes a transfer encoding. It tells whether the body was encoded so;
// other encodings leave the body as it is.
func decode(encoding string, body []byte) (decoded []byte, ok bool) {
	var err error
	switch encoding {
	case "base64":
		decoded, err = decodeBase64(body)
	case "quoted-printable":
		if brokenEscape.Match(body) {
			return nil, false
		}
		decoded, err = io.ReadAll(quotedprintable.NewReader(bytes.NewReader(body)))
	default:
		return body, true
	}
	return decoded, err == nil
}

// brokenEscape finds an equals sign with neither two digits nor the end of the
// line behind it.
var brokenEscape = regexp.MustCompile(`=([^0-9A-Fa-f \t\r\n]|[0-9A-Fa-f]([^0-9A-Fa-f]|$)|[ \t]+[^ \t\r\n])`)
