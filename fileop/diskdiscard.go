package fileop

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"kimi-acp/internal/filelock"
)

const stepAside step = "put aside"

// Remove implements Store. A symbolic link is removed itself, its target stays.
func (d *Disk) Remove(ctx context.Context, path string) error { return d.remove(ctx, path, nil) }

// Discard implements Replacer. Where the system can, the file gets a name of ours first,
// and is looked at under that: whatever somebody saved until that very moment is found,
// and gets its name back. Elsewhere it is looked at just before it is removed.
func (d *Disk) Discard(ctx context.Context, path string, old [sha256.Size]byte) error {
	expected := digest(old)
	return d.remove(ctx, path, &expected)
}

// remove is Remove, and with expected Discard.
func (d *Disk) remove(ctx context.Context, path string, expected *digest) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	name, err := d.folders.clean(path)
	if err != nil {
		return err
	}
	if _, rel, ok := d.folders.named(name); ok && rel == "." {
		return notRegular(name, os.ModeDir)
	}
	dir, err := d.folders.locate(filepath.Dir(name))
	if err != nil {
		return err
	}
	root, rel := d.roots[dir.root], filepath.Join(dir.rel, filepath.Base(name))
	info, err := root.Lstat(rel)
	if err != nil {
		return d.explain(path, "removing", err)
	}
	link := info.Mode()&os.ModeSymlink != 0
	if !info.Mode().IsRegular() && !link {
		return notRegular(name, info.Mode())
	}
	folder, missing, err := enter(root, dir.rel)
	if err != nil {
		return d.explain(path, "removing", err)
	}
	defer func() { _ = folder.Close() }() // a folder holds no data that could be lost
	if missing != "" {
		return d.explain(path, "removing", &fs.PathError{Op: "open", Path: missing, Err: fs.ErrNotExist})
	}
	if expected == nil || link {
		err = folder.Remove(filepath.Base(name))
	} else {
		err = d.discard(folder, filepath.Base(name), *expected)
	}
	if err != nil {
		return d.explain(path, "removing", err)
	}
	return nil
}

// discard removes a file of a folder if it is what is expected.
func (d *Disk) discard(folder *os.Root, name string, expected digest) error {
	f, err := folder.OpenFile(name, os.O_RDONLY|openWithoutWaiting, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only locked: nothing can be lost
	_ = filelock.Try(f)              // nobody takes it for one that was left behind, see Tidy
	aside := tempName()
	if d.before != nil {
		err = d.before(stepAside)
	}
	if err == nil {
		err = renameFree(folder, name, aside)
	}
	switch {
	case errors.Is(err, errNoExchange):
		if found, err := digestIn(folder, name); err != nil || found != expected {
			return errors.Join(fmt.Errorf("%s %w", name, ErrStale), err)
		}
		return folder.Remove(name)
	case err != nil:
		return err
	}
	found, err := digestIn(folder, aside)
	if err == nil && found == expected {
		if err = folder.Remove(aside); err == nil {
			return nil
		}
	} else {
		err = errors.Join(fmt.Errorf("%s %w", name, ErrStale), err)
	}
	if back := renameFree(folder, aside, name); back != nil {
		return fmt.Errorf("%s is not deleted, and what stood in it is now in %s: %w: %w", name, aside, ErrUnconfirmed, back)
	}
	return err
}
