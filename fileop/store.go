package fileop

import (
	"context"
	"crypto/sha256"
)

// Store holds whole files under absolute paths. A Store may be called by several
// goroutines at once.
type Store interface {
	// Read gives a file's bytes. A missing file is an error that wraps
	// fs.ErrNotExist; a directory, device or pipe is ErrNotRegular; a path outside
	// the store's roots, also by way of a symbolic link, is ErrOutside.
	Read(ctx context.Context, path string) ([]byte, error)
	// Write replaces a file, or makes it and its parent directories. It replaces
	// the whole file or changes nothing. When ctx ends before the file was
	// replaced, nothing has changed.
	Write(ctx context.Context, path string, data []byte) error
	// Remove deletes a file. A missing file is an error that wraps fs.ErrNotExist.
	Remove(ctx context.Context, path string) error
}

// Replacer is a Store that can tell, in the moment of writing or deleting, whether a file
// still is what it was when a change of it was worked out.
type Replacer interface {
	// Replace is Write, if the file's bytes have this SHA-256, or if there is none for the
	// zero value. Else nothing has changed, and the error wraps ErrStale.
	Replace(ctx context.Context, path string, old [sha256.Size]byte, data []byte) error
	// Discard is Remove, if the file's bytes have this SHA-256. Else nothing has changed,
	// and the error wraps ErrStale. With ErrUnconfirmed the file has another name now,
	// which the error tells.
	Discard(ctx context.Context, path string, old [sha256.Size]byte) error
}
