package fileop

import (
	"crypto/sha256"
	"encoding/binary"
)

// Digest stands for the bytes of an action: two with one digest are the same.
type Digest [sha256.Size]byte

// DigestOf is the digest of texts in their order.
func DigestOf(texts ...string) Digest {
	h := sha256.New()
	for _, t := range texts {
		// With its length, so that texts cannot run into each other.
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(t)))
		h.Write(size[:])
		h.Write([]byte(t))
	}
	return Digest(h.Sum(nil))
}

// Digest stands for the change: the file, what stands there, and the bytes that
// would be written.
func (c Change) Digest() Digest {
	before, exists := "", "new"
	if c.Before != nil {
		before, exists = *c.Before, "there"
	}
	return DigestOf("change", string(c.Kind), c.Path, c.Real, c.NewPath, c.NewReal, exists, before, c.After, string(c.data), string(c.spoken))
}
