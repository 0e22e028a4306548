// SPDX-License-Identifier: Apache-2.0

package userdata

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
)

// maxDecompressed is how much may come out of decompression, in bytes: the
// parts of one message share it.
const maxDecompressed = 1 << 20

// decompress returns what is in gzip, unless that is not to be had.
func (i *inspection) decompress(subject string, raw []byte) (content []byte, ok bool) {
	reader, err := gzip.NewReader(bytes.NewReader(raw))
	if err == nil {
		content, err = io.ReadAll(io.LimitReader(reader, i.room+1))
	}
	switch {
	case err != nil:
		i.warn(subject, "is not intact gzip: cloud-init does nothing with it")
		return nil, false
	case int64(len(content)) > i.room:
		i.room = 0
		i.unexamined(subject, fmt.Sprintf("more than %d bytes come out of decompression", maxDecompressed))
		return nil, false
	default:
		i.room -= int64(len(content))
		return content, true
	}
}

// isCompressed tells whether cloud-init decompresses parts of that type.
func isCompressed(mediaType string) bool {
	switch mediaType {
	case "application/gzip", "application/gzip-compressed", "application/gzipped", "application/x-gzip",
		"application/x-gzip-compressed", "application/x-gunzip", "application/x-compress", "application/x-compressed":
		return true
	default:
		return false
	}
}
