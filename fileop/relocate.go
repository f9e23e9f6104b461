package fileop

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
)

// Mover is a Store that can give a file another path. It may be called by several
// goroutines at once.
type Mover interface {
	// Move gives a file another path; it stays the same file, with its mode. Parents
	// are made. What stands at the new path is never replaced, that is fs.ErrExist.
	// errors.ErrUnsupported: not between these two. On an error the file is where it
	// was; when ctx ends before it was moved, nothing has changed.
	Move(ctx context.Context, from, to string) error
}

// planDelete plans that a file is to be gone.
func (o *Operator) planDelete(ctx context.Context, p place, e Edit) (Change, error) {
	v, err := o.standing(ctx, p)
	if err != nil {
		return Change{}, err
	}
	if len(e.Patch) > 0 && !v.raw {
		rest, err := v.text.patch(p.name, e.Patch)
		if err != nil {
			return Change{}, err
		}
		if rest.Body != "" {
			return Change{}, fmt.Errorf("%s: %w: the patch deletes the file and does not hold all of its lines; read it again", p.name, ErrNoMatch)
		}
	}
	return Change{
		Path: p.name, Real: p.real, Kind: ActionDelete, Before: &v.text.Body,
		NotText: v.raw, Size: len(v.image()), stamp: v.stamp(),
	}, nil
}

// planMove plans that a file is to be at another path, perhaps with another text.
func (o *Operator) planMove(ctx context.Context, p place, e Edit) (Change, error) {
	v, err := o.standing(ctx, p)
	if err != nil {
		return Change{}, err
	}
	to, err := o.folders.locate(e.MoveTo)
	if err != nil {
		return Change{}, err
	}
	if to.name == p.name {
		return Change{}, fmt.Errorf("%s: %w; it is to be moved to where it is", p.name, ErrNoChange)
	}
	if err := o.free(ctx, p, to); err != nil {
		return Change{}, err
	}
	c := Change{
		Path: p.name, Real: p.real, NewPath: to.name, NewReal: to.real, Kind: ActionRename, Before: &v.text.Body,
		After: v.text.Body, NotText: v.raw, Size: len(v.image()), stamp: v.stamp(), data: v.image(),
	}
	if !e.changesText() {
		return c, nil
	}
	if v.raw {
		return Change{}, fmt.Errorf("%s: %w", p.name, ErrBinary)
	}
	if err := o.planText(&c, p, v, e); err != nil {
		return Change{}, err
	}
	return c, nil
}

// standing looks at a file that is to go. It has to be there, saved, and no link:
// through a link it is not clear which of the two is meant. It need not be text.
func (o *Operator) standing(ctx context.Context, p place) (view, error) {
	v, err := o.look(ctx, p)
	if errors.Is(err, ErrBinary) {
		v.disk, err = o.readRaw(ctx, p)
		v.raw = true
	}
	switch {
	case err != nil:
		return view{}, err
	case !v.exists():
		return view{}, missing(p.name)
	case v.dirty:
		return view{}, fmt.Errorf("%s: %w, which would be lost; ask the user to save or discard them first", p.name, ErrDirtyBuffer)
	case p.isLink():
		return view{}, fmt.Errorf("%s: %w but a symbolic link to %s; name the file itself, or take a command for the link", p.name, ErrNotRegular, p.real)
	}
	return v, nil
}

// isLink tells whether the last part of a path is a symbolic link.
func (p place) isLink() bool {
	dir, err := realPath(filepath.Dir(p.name))
	if err != nil {
		return true // nothing is known of it
	}
	there := filepath.Join(dir, filepath.Base(p.name))
	if caseFolds {
		return !strings.EqualFold(there, p.real)
	}
	return there != p.real
}

// caseFolds: names that differ in case alone may mean one file.
const caseFolds = runtime.GOOS == "windows" || runtime.GOOS == "darwin"

// free makes sure that nothing stands at the path to which a file is to go.
func (o *Operator) free(ctx context.Context, from, to place) error {
	if from.key() == to.key() {
		return nil // another spelling of the same name
	}
	v, err := o.look(ctx, to)
	if errors.Is(err, ErrBinary) || err == nil && v.exists() {
		return fmt.Errorf("%s: %w; take another name, or delete that file first", to.name, ErrInTheWay)
	}
	return err
}

// commitDelete carries out a planned deletion. The caller has the file's turn.
func (o *Operator) commitDelete(ctx context.Context, p place, c Change, now view, rec Recorder) (Result, error) {
	end, err := rec.Begin(c, now.image())
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", p.name, err)
	}
	switch err := o.removeFromDisk(ctx, p, c.stamp.disk); {
	case errors.Is(err, ErrStale): // in the last moment, and nothing was deleted
		end(Outcome{Err: err, Stale: true})
		return Result{}, fmt.Errorf("%s %w; nothing was deleted, read it again", p.name, ErrStale)
	case err != nil:
		end(Outcome{Image: now.image(), Err: err})
		return Result{}, err
	}
	if o.reads {
		o.behind.note(p.key(), c.stamp.disk, *c.Before, nil)
	}
	end(Outcome{})
	return Result{Change: c}, nil
}

// commitMove carries out a planned move: first the file goes, then its new text is
// written where it is now; when that fails it comes back. The caller has the turn of
// both paths.
func (o *Operator) commitMove(ctx context.Context, p, to place, c Change, now view, rec Recorder) (Result, error) {
	if err := o.free(ctx, p, to); err != nil {
		return Result{}, err
	}
	end, err := rec.Begin(c, now.image())
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", p.name, err)
	}
	if err := o.move(ctx, p, to); err != nil {
		end(Outcome{Image: now.image(), Err: err})
		return Result{}, err
	}
	if o.reads {
		o.behind.note(p.key(), c.stamp.disk, *c.Before, nil)
	}
	if string(c.data) == string(now.image()) {
		end(Outcome{Image: c.data})
		return Result{Change: c, Actual: c.After, image: c.data}, nil
	}
	moved := c
	moved.Path, moved.Real = to.name, to.real
	if err := o.write(ctx, to, moved); err != nil {
		r, known, err := o.failed(ctx, to, moved, err)
		r.Change = c
		if !errors.Is(err, ErrUnconfirmed) {
			lasting, cancel := context.WithTimeout(context.WithoutCancel(ctx), readBackTime)
			defer cancel()
			if back := o.move(lasting, to, p); back != nil {
				known = false
				err = fmt.Errorf("%w: %w; it was moved to %s and could not be moved back: %w", err, ErrUnconfirmed, to.name, back)
			}
			r.image = now.image()
		}
		end(Outcome{Image: r.image, Unknown: !known, Err: err})
		return r, err
	}
	r := o.readBack(ctx, to, moved)
	r.Change = c
	end(Outcome{Image: r.image})
	return r, nil
}

// move gives a file another path, by copying it where there is no other way.
func (o *Operator) move(ctx context.Context, from, to place) error {
	err := errors.ErrUnsupported
	if m, ok := o.disk.(Mover); ok {
		err = m.Move(ctx, from.name, to.name)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		return o.copyAndRemove(ctx, from, to)
	}
	if err == nil || !o.hasMoved(ctx, from, to) {
		return err
	}
	return nil // only its answer was lost
}

// hasMoved tells whether a file is at its new path and not at its old one.
func (o *Operator) hasMoved(ctx context.Context, from, to place) bool {
	lasting, cancel := context.WithTimeout(context.WithoutCancel(ctx), readBackTime)
	defer cancel()
	_, gone := o.disk.Read(lasting, from.name)
	_, there := o.disk.Read(lasting, to.name)
	return errors.Is(gone, fs.ErrNotExist) && there == nil
}

func (o *Operator) copyAndRemove(ctx context.Context, from, to place) error {
	data, err := o.disk.Read(ctx, from.name)
	if err != nil {
		return err
	}
	lasting, cancel := context.WithTimeout(context.WithoutCancel(ctx), readBackTime)
	defer cancel()
	if err := o.disk.Write(ctx, to.name, data); err != nil {
		return errors.Join(err, o.takeBackCopy(lasting, to, data))
	}
	if err := o.removeFromDisk(ctx, from, digestOf(data)); err != nil {
		return errors.Join(err, o.takeBackCopy(lasting, to, data))
	}
	return nil
}

// takeBackCopy removes a copy whose file did not go, if it is there.
func (o *Operator) takeBackCopy(ctx context.Context, to place, data []byte) error {
	got, err := o.readRaw(ctx, to)
	if err != nil || got == nil || string(got) != string(data) {
		return err
	}
	return o.removeFromDisk(ctx, to, digestOf(data))
}
