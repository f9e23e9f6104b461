package fileop

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	stepLink   step = "link"
	stepUnlink step = "remove the old name"
)

var _ Mover = (*Disk)(nil)

// Move implements Mover, within one root. The file gets its new name before it loses
// the old one, so a crash in between leaves both.
func (d *Disk) Move(ctx context.Context, from, to string) error {
	p, root, err := d.place(ctx, from)
	if err != nil {
		return err
	}
	q, other, err := d.place(ctx, to)
	switch {
	case err != nil:
		return err
	case other != root:
		return fmt.Errorf("moving %s to %s, another workspace folder: %w", from, to, errors.ErrUnsupported)
	}
	info, err := root.Lstat(p.rel)
	if err != nil {
		return d.explain(from, "moving", err)
	}
	if !info.Mode().IsRegular() {
		return notRegular(p.name, info.Mode())
	}
	w := diskWrite{disk: d, root: root, dir: filepath.Dir(q.rel)}
	if err := w.moveHere(ctx, p, q); err != nil {
		w.takeBack()
		return d.explain(to, "moving "+from+" to", err)
	}
	syncDir(root, w.dir)
	syncDir(root, filepath.Dir(p.rel))
	return nil
}

func (w *diskWrite) moveHere(ctx context.Context, p, q place) error {
	w.disk.making.Lock()
	defer w.disk.making.Unlock()
	if err := w.makeParents(w.dir); err != nil {
		return err
	}
	if err := errors.Join(w.step(stepLink), ctx.Err()); err != nil {
		return err
	}
	for _, dir := range []string{filepath.Dir(p.rel), w.dir} {
		folder, _, err := enter(w.root, dir) // no part of it became a link
		if err != nil {
			return err
		}
		_ = folder.Close() // only looked at
	}
	err := w.root.Link(p.rel, q.rel)
	switch {
	case errors.Is(err, fs.ErrExist) && p.rel != q.rel && strings.EqualFold(p.rel, q.rel) && w.sameFile(p.rel, q.rel):
		return w.root.Rename(p.rel, q.rel) // where case does not tell names apart
	case errors.Is(err, fs.ErrExist):
		return err
	case err != nil: // no hard links here
		if _, err := w.root.Lstat(q.rel); !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(err, fs.ErrExist)
		}
		return w.root.Rename(p.rel, q.rel)
	}
	if err := w.step(stepUnlink); err != nil {
		return errors.Join(err, w.root.Remove(q.rel))
	}
	if err := w.root.Remove(p.rel); err != nil {
		return errors.Join(err, w.root.Remove(q.rel))
	}
	return nil
}

func (w *diskWrite) sameFile(a, b string) bool {
	one, err1 := w.root.Lstat(a)
	two, err2 := w.root.Lstat(b)
	return err1 == nil && err2 == nil && os.SameFile(one, two)
}
