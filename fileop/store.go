package fileop

import "context"

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
