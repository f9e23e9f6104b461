package fileop

import "time"

// fingerprint tells cheaply whether a file may have changed.
type fingerprint struct {
	size    int64
	written int64  // ns since 1970: of the bytes
	status  int64  // ns since 1970: of anything, or the creation; cannot be set back
	device  uint64 // with inode: which file it is, 0 where that is not known
	inode   uint64
}

func (p fingerprint) changed() time.Time { return time.Unix(0, max(p.written, p.status)) }
