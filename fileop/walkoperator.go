package fileop

import (
	"context"
	"errors"
	"fmt"
	"iter"
)

// Tree is a Store whose folders can be walked; *Disk is one. Its methods may be
// called at once, and mean what Disk's mean.
type Tree interface {
	Walk(ctx context.Context, path string, o WalkOptions) iter.Seq2[Entry, error]
	Scan(ctx context.Context, path string, o ScanOptions) error
}

var (
	_ Tree = (*Disk)(nil)

	errNoTree = fmt.Errorf("this store of files cannot be walked: %w", errors.ErrUnsupported)
)

// Walk walks the files on disk, see Disk.Walk. Files that only the editor has are
// not among them; Known names those.
func (o *Operator) Walk(ctx context.Context, path string, w WalkOptions) iter.Seq2[Entry, error] {
	if tree, ok := o.disk.(Tree); ok {
		return tree.Walk(ctx, path, w)
	}
	return func(yield func(Entry, error) bool) { yield(Entry{}, errNoTree) }
}

// Scan reads the files on disk, see Disk.Scan. What the editor holds of them is not
// looked at.
func (o *Operator) Scan(ctx context.Context, path string, s ScanOptions) error {
	if tree, ok := o.disk.(Tree); ok {
		return tree.Scan(ctx, path, s)
	}
	return errNoTree
}
