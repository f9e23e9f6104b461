// Package uuid makes the random ids by which requests and sessions are known, in the
// form that kimi-cli gives them.
//
// It must not know what they are for, and reads none.
package uuid

import (
	"crypto/rand"
	"encoding/hex"
)

// New gives a random UUID, version 4, in small letters with dashes.
func New() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
