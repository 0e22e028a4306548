// SPDX-License-Identifier: Apache-2.0

package userdata

import "fmt"

// MaxSize is what the provider takes, in bytes before base64: its limit is
// 65 535 characters of base64. More makes a server that is never built.
const MaxSize = 65535 / 4 * 3

// CheckSize tells whether the provider has room for user data, together with
// what region adds to it when the server has an SSH certificate authority.
// AuthorityPublicKey is as for Size.
func CheckSize(raw []byte, authorityPublicKey string) error {
	size := Size(raw, authorityPublicKey)
	switch {
	case size <= MaxSize:
		return nil
	case authorityPublicKey == "":
		return fmt.Errorf("user data is %d bytes long, and the provider takes at most %d: "+
			"shorten it, compress it with gzip, or have the guest fetch some of it with #include", size, MaxSize)
	default:
		return fmt.Errorf("user data is about %d bytes long with what is added for the SSH certificate authority, "+
			"and the provider takes at most %d: shorten it by %d bytes, or have the guest fetch some of it with #include",
			size, MaxSize, size-MaxSize)
	}
}

// Size returns how many bytes region sends to the provider. Without the public
// key of an SSH certificate authority that is exactly raw.
//
// With one it is an estimate, because the part that region adds is region's to
// choose. It is taken from a message that is really built, with more room for
// that part than region was seen to use: it errs by less than a hundred
// bytes on the large side, so what fits here fits there. Raw that CheckManaged refuses
// is never sent and counts as it is.
func Size(raw []byte, authorityPublicKey string) int {
	if authorityPublicKey == "" {
		return len(raw)
	}
	message, err := augment(raw, authorityPublicKey)
	if err != nil {
		return len(raw)
	}
	return len(message)
}
